//! Users, tokens and logins.

use cooperage_domain::access::Area::{Access, Own};
use cooperage_domain::access::Role::{Admin, Reader};
use cooperage_domain::access::Rule;

use super::Operation;
use super::table::{TENANT, delete, get, post, put};

pub(super) fn access() -> Vec<Operation> {
    let (see, change) = (Rule::read(Admin, Access), Rule::write(Admin, Access));
    let hold = Rule::write(Reader, Access);
    vec![
        get("/v2/users", see, "Users of the tenant").gives("[User]").query(&[TENANT]),
        post("/v2/users", change, "A new user")
            .takes("UserChange")
            .gives("User")
            .query(&[TENANT])
            .refuses(&[409]),
        get("/v2/users/{name}", see, "A user").gives("User").query(&[TENANT]),
        put("/v2/users/{name}", change, "Change a user's role or password, or let the user in no more")
            .takes("UserChange")
            .gives("User")
            .query(&[TENANT])
            .refuses(&[409]),
        delete("/v2/users/{name}", change, "Remove a user, with sessions and tokens")
            .query(&[TENANT])
            .refuses(&[409]),
        get("/v2/tokens", Rule::read(Reader, Access), "The caller's tokens; all of the tenant for its admin")
            .gives("[Token]")
            .query(&[TENANT]),
        post("/v2/tokens", hold, "A new token; its secret is shown this once")
            .takes("TokenRequest")
            .gives("NewToken")
            .query(&[TENANT]),
        delete("/v2/tokens/{id}", hold, "Revoke a token").query(&[TENANT]),
        post(
            "/v2/login-codes",
            hold,
            "A code with which a browser logs in as the caller: once, within minutes",
        )
        .gives("LoginCode")
        .refuses(&[409]),
        post("/v2/login", Rule::public(Own), "Begin a session, kept as a cookie")
            .takes("Login")
            .gives("LoggedIn")
            .refuses(&[401, 429]),
        get("/token", Rule::public(Own), "A token of a day for a name and a password, as in Coopr")
            .gives("IssuedToken")
            .refuses(&[401, 429]),
        post("/v2/logout", Rule::write(Reader, Own), "End the session"),
        get("/v2/me", Rule::read(Reader, Own), "Who the caller is").gives("Caller"),
        put("/v2/me/password", Rule::write(Reader, Own), "Another password for the caller")
            .takes("PasswordChange")
            .refuses(&[404, 409, 429]),
    ]
}
