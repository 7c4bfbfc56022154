#!/bin/sh
# An automator in shell: START puts a file with the service's address where Prometheus looks, STOP and REMOVE take it away.
# Needs jq. A plugin resource `labels/common` (a JSON object), when there is one, is laid over the target's labels.
set -eu

order=$(cat)
ask() { printf '%s' "$order" | jq -r "$1"; }
say() { jq -cn --arg text "$2" "{\"$1\": \$text}"; }
fail() {
    jq -cn --arg text "$1" '{"result": {"status": 1, "message": $text}}'
    exit 1
}

task=$(ask .taskName)
[ "$task" != BOOTSTRAP ] || { say log "nothing to prepare"; echo '{"result": {}}'; exit 0; }

folder=$(ask .config.service.action.fields.folder)
port=$(ask .config.service.action.fields.port)
file="$folder/$(ask .nodeId)-$(ask .config.service.name).json"
[ -d "$folder" ] && [ -w "$folder" ] || fail "$folder is no folder that $(id -un) may write to; make one and name it in the field folder"

case $task in
START)
    labels='{}'
    [ ! -r labels/common ] || labels=$(cat labels/common)
    # Beside it and then renamed: Prometheus never sees half a file, and the same call again writes the same.
    printf '%s' "$order" | jq --arg port "$port" --argjson labels "$labels" '[{
        targets: [.config.ipaddresses.access_v4 + ":" + $port],
        labels: ({cluster: .clusterId, service: .config.service.name} + $labels)
    }]' > "$file.new"
    mv "$file.new" "$file"
    say progress "$file is there"
    ;;
STOP | REMOVE)
    rm -f "$file"
    say progress "$file is gone"
    ;;
*)
    say log "$task needs nothing"
    ;;
esac
echo '{"result": {}}'
