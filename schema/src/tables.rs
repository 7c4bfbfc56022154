//! The tables as diesel knows them; `migrations/` says what each is for.

diesel::table! {
    entities (tenant, kind, name, version) {
        tenant -> Text,
        kind -> Text,
        name -> Text,
        version -> BigInt,
        document -> Text,
        created_ms -> BigInt,
        sealed -> Nullable<Text>,
    }
}

diesel::table! {
    counters (name) {
        name -> Text,
        value -> BigInt,
    }
}

diesel::table! {
    tenants (id) {
        id -> Text,
        name -> Text,
        document -> Text,
    }
}

diesel::table! {
    journal (cluster, sequence) {
        cluster -> BigInt,
        sequence -> BigInt,
        at_ms -> BigInt,
        actor -> Text,
        who -> Text,
        event_version -> BigInt,
        event -> Text,
    }
}

diesel::table! {
    snapshots (cluster, sequence) {
        cluster -> BigInt,
        sequence -> BigInt,
        state -> Text,
    }
}

diesel::table! {
    ownership (cluster) {
        cluster -> BigInt,
        server -> Text,
        epoch -> BigInt,
    }
}

diesel::table! {
    servers (name) {
        name -> Text,
        seen_ms -> BigInt,
    }
}

diesel::table! {
    clusters (id) {
        id -> BigInt,
        tenant -> Text,
        owner -> Text,
        name -> Text,
        status -> Text,
        template -> Text,
        provider -> Text,
        created_ms -> BigInt,
        expires_ms -> BigInt,
        nodes -> BigInt,
        latest_job -> Nullable<BigInt>,
        steps_total -> BigInt,
        steps_done -> BigInt,
        message -> Nullable<Text>,
        summary -> Text,
    }
}

diesel::table! {
    ancestry (cluster) {
        cluster -> BigInt,
        parent -> Nullable<BigInt>,
        foundation -> Nullable<BigInt>,
        hands_down -> Nullable<Text>,
        parent_seen -> Nullable<Text>,
        foundation_seen -> Nullable<Text>,
    }
}

diesel::table! {
    foundations (tenant) {
        tenant -> Text,
        cluster -> BigInt,
    }
}

diesel::table! {
    nodes (id) {
        id -> Text,
        cluster -> BigInt,
        tenant -> Text,
        number -> BigInt,
        hostname -> Nullable<Text>,
        status -> Text,
        document -> Text,
    }
}

diesel::table! {
    jobs (cluster, number) {
        cluster -> BigInt,
        number -> BigInt,
        action -> Text,
        status -> Text,
        started_ms -> Nullable<BigInt>,
        ended_ms -> Nullable<BigInt>,
        message -> Nullable<Text>,
    }
}

diesel::table! {
    tasks (cluster, number) {
        cluster -> BigInt,
        number -> BigInt,
        job -> BigInt,
        node -> Text,
        service -> Text,
        name -> Text,
        status -> Text,
        attempts -> BigInt,
        started_ms -> Nullable<BigInt>,
        ended_ms -> Nullable<BigInt>,
        code -> Nullable<BigInt>,
    }
}

diesel::table! {
    foreseen (cluster, job, first) {
        cluster -> BigInt,
        job -> BigInt,
        first -> BigInt,
        tasks -> Text,
    }
}

diesel::table! {
    task_durations (key) {
        key -> Text,
        n -> BigInt,
        mean_ms -> Double,
        m2 -> Double,
    }
}

diesel::table! {
    tokens (id) {
        id -> Text,
        hash -> Text,
        tenant -> Text,
        username -> Text,
        role -> Text,
        created_ms -> BigInt,
        expires_ms -> Nullable<BigInt>,
        revoked_ms -> Nullable<BigInt>,
        label -> Text,
        scopes -> Text,
    }
}

diesel::table! {
    users (tenant, name) {
        tenant -> Text,
        name -> Text,
        role -> Text,
        password_hash -> Nullable<Text>,
        created_ms -> BigInt,
        disabled_ms -> Nullable<BigInt>,
    }
}

diesel::table! {
    sessions (id) {
        id -> Text,
        hash -> Text,
        tenant -> Text,
        username -> Text,
        created_ms -> BigInt,
        expires_ms -> BigInt,
    }
}

diesel::table! {
    resources (tenant, side, plugin, kind, name, version) {
        tenant -> Text,
        side -> Text,
        plugin -> Text,
        kind -> Text,
        name -> Text,
        version -> BigInt,
        status -> Text,
        sha256 -> Text,
        size -> BigInt,
    }
}

diesel::table! {
    profiles (tenant, username) {
        tenant -> Text,
        username -> Text,
        document -> Text,
    }
}

diesel::table! {
    registered_nodes (tenant, id) {
        tenant -> Text,
        id -> Text,
        owner -> Text,
        document -> Text,
    }
}

diesel::table! {
    provisioners (id) {
        id -> Text,
        document -> Text,
        seen_ms -> BigInt,
    }
}

diesel::table! {
    secrets (cluster) {
        cluster -> BigInt,
        sealed -> Text,
        tenant -> Nullable<Text>,
    }
}

diesel::table! {
    data_keys (id) {
        id -> Text,
        tenant -> Text,
        master -> Text,
        wrapped -> Text,
    }
}

diesel::table! {
    audit (sequence) {
        sequence -> BigInt,
        at_ms -> BigInt,
        request -> Text,
        tenant -> Text,
        username -> Text,
        credential -> Text,
        peer -> Text,
        forwarded -> Text,
        port -> Text,
        action -> Text,
        object -> Text,
        status -> BigInt,
        hash -> Text,
    }
}

diesel::table! {
    idempotency (tenant, username, key) {
        tenant -> Text,
        username -> Text,
        key -> Text,
        request -> Text,
        cluster -> Nullable<BigInt>,
        status -> Nullable<BigInt>,
        content_type -> Nullable<Text>,
        answer -> Nullable<Text>,
        expires_ms -> BigInt,
    }
}

diesel::table! {
    callbacks (id) {
        id -> Text,
        tenant -> Text,
        name -> Text,
        url -> Text,
        events -> Text,
        actions -> Text,
        timeout_ms -> BigInt,
        on_error -> Text,
        sealed -> Nullable<Text>,
        created_ms -> BigInt,
        created_by -> Text,
    }
}

diesel::table! {
    callback_occurrences (cluster, sequence) {
        cluster -> BigInt,
        sequence -> BigInt,
        tenant -> Text,
        at_ms -> BigInt,
        event -> Text,
        action -> Nullable<Text>,
        job -> Nullable<BigInt>,
        document -> Text,
    }
}

diesel::table! {
    callback_deliveries (id) {
        id -> Text,
        callback -> Text,
        tenant -> Text,
        event -> Text,
        action -> Nullable<Text>,
        cluster -> Nullable<BigInt>,
        job -> Nullable<BigInt>,
        body -> Text,
        created_ms -> BigInt,
        status -> Text,
        attempts -> BigInt,
        tries_left -> BigInt,
        next_ms -> Nullable<BigInt>,
    }
}

diesel::table! {
    callback_attempts (delivery, number) {
        delivery -> Text,
        number -> BigInt,
        at_ms -> BigInt,
        duration_ms -> BigInt,
        code -> Nullable<BigInt>,
        answer -> Text,
        fault -> Nullable<Text>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(ancestry, clusters, nodes, ownership, servers, tasks);
diesel::allow_tables_to_appear_in_same_query!(sessions, users);

diesel::table! {
    proposals (cluster, number) {
        cluster -> BigInt,
        number -> BigInt,
        kind -> Text,
        title -> Text,
        base -> BigInt,
        document -> Text,
        decided -> Nullable<Text>,
        preview -> Nullable<Text>,
        edition -> BigInt,
        created_ms -> BigInt,
        created_by -> Text,
        changed_ms -> BigInt,
        changed_by -> Text,
        done_ms -> Nullable<BigInt>,
        done_by -> Nullable<Text>,
        tenant -> Nullable<Text>,
    }
}
