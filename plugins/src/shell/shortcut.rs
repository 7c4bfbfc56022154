//! When a script can be started without a shell that prepares it, and with what.

use crate::ssh::Shortcut;

/// The file that names the cluster's nodes on a machine.
const HOSTS: &str = "/etc/hosts";
/// What only a shell understands, outside of quotes or in them.
const SHELLS_OWN: [char; 19] =
    ['$', '`', '\\', '*', '?', '[', ']', '{', '}', '~', '#', '!', ';', '&', '|', '<', '>', '(', ')'];

/// For words of a shell line, if they mean the same to everybody: the script finds `environment`, and `names` stand in
/// `/etc/hosts` already, as `hosts.sh` puts them there.
pub(super) fn shortcut(words: &str, names: &str, environment: Vec<(String, String)>) -> Option<Shortcut> {
    let plain = !words.contains(SHELLS_OWN) && !words.contains('\n');
    let fits = environment.iter().all(|(_, value)| !value.contains('\0'));
    let words = shlex::split(words).filter(|words| !words.is_empty())?;
    let holds = format!("# cooperage: begin\n{names}# cooperage: end\n");
    (plain && fits).then(|| Shortcut { file: HOSTS.to_owned(), holds, environment, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_the_same_to_everybody_need_no_shell() {
        for (words, expected) in [
            ("./go.sh", &["./go.sh"][..]),
            ("./go.sh  'a  b' \"it's\" --port=80 ''", &["./go.sh", "a  b", "it's", "--port=80", ""]),
        ] {
            assert_eq!(shortcut(words, "", Vec::new()).unwrap().words, expected, "{words}");
        }
        for words in [
            "",
            "./go $PORT",
            "./go \"`id`\"",
            "./go *.rpm",
            "./go 'open",
            "./go ~/x",
            "./go a\\ b",
            "./go\nid",
        ] {
            assert_eq!(shortcut(words, "", Vec::new()), None, "{words}");
        }
        let odd = vec![("A".to_owned(), "a\0b".to_owned())];
        assert_eq!(shortcut("./go", "", odd), None);
    }
}
