#!/usr/bin/env python3
"""A provider in Python: lends machines that exist already, each to one node at a time.

Its order comes as JSON on standard input; what it says goes out as JSON, an object with one key a line. Which node has
which machine is a link in the state folder, named after the machine and made in one step. So any call may come again, after
a crash in any place, and finds what the first one did.

Needs ssh-keyscan (Debian: openssh-client).
"""

import json
import os
import socket
import subprocess
import sys
import time


class Failure(Exception):
    """Why the task failed; status 200 to 299 says that nothing was made."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


def say(kind, value):
    print(json.dumps({kind: value}), flush=True)


def fields(order):
    given = order["config"]["provider"]["provisioner"]
    hosts = given["hosts"].split()
    if not hosts:
        raise Failure("the provider's field hosts is empty; list at least one address", 200)
    return hosts, given["state"], int(given.get("port") or 22)


def holder(link):
    """The node that has a machine, or None."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return None


def create(order):
    hosts, state, _ = fields(order)
    node = order["nodeId"]
    links = {host: os.path.join(state, host) for host in hosts}
    # One that this node has already: this is the same call again, or a later attempt.
    for host, link in links.items():
        if holder(link) == node:
            return lent(order, host)
    for host, link in links.items():
        try:
            os.symlink(node, link)
        except FileExistsError:
            continue
        except OSError as fault:
            raise Failure(f"the state folder {state} cannot be written: {fault}", 200) from fault
        say("progress", f"{host} is lent to {node}")
        return lent(order, host)
    raise Failure(f"all {len(hosts)} machines are lent; add hosts to the provider, or delete a cluster", 200)


def lent(order, host):
    # Without identityfile the server logs in with its own key: serverKey is to stand in each machine's authorized_keys.
    say("log", f"{host} must know the key {order['serverKey'][:40]}...")
    _, _, port = fields(order)
    login = {"user": order["config"].get("sshuser", "root"), "port": port or 22}
    return {"result": {"providerid": host, "ssh-auth": login}}


def confirm(order):
    _, _, port = fields(order)
    host = order["config"]["providerid"]
    while port:
        try:
            socket.create_connection((host, port), timeout=5).close()
            break
        except OSError as fault:
            say("progress", f"{host}:{port} does not answer yet: {fault}")
            time.sleep(1)
    report = {"ipaddresses": {"access_v4": host, "bind_v4": host}}
    key = host_key(host, port or 22)
    if key:
        report["result"] = {"ssh_host_keys": {"ed25519": key}}
    else:
        say("log", f"{host} shows no ed25519 host key, so the server logs in to it for nothing")
    return report


def host_key(host, port):
    """Who the machine is: believed now, when it is lent, and compared by the server at each login from then on."""
    asked = ["ssh-keyscan", "-T", "3", "-t", "ed25519", "-p", str(port), host]
    for line in subprocess.run(asked, capture_output=True, text=True, check=False).stdout.splitlines():
        if " ssh-ed25519 " in line:
            return line.split(" ", 1)[1]
    return None


def delete(order):
    hosts, state, _ = fields(order)
    for host in hosts:
        link = os.path.join(state, host)
        if holder(link) == order["nodeId"]:
            os.unlink(link)
            say("progress", f"{host} is free again")
    # Nothing to free is success: it was freed before.
    return {}


def probe(order):
    _, state, port = fields(order)
    host = order["config"]["providerid"]
    if holder(os.path.join(state, host)) != order["nodeId"]:
        return {"result": {"health": "gone", "reason": f"{host} is not lent to this node any more"}}
    if not port:
        return {"result": {"health": "unknown", "reason": "without a port nothing can be found out"}}
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError as fault:
        return {"result": {"health": "down", "reason": f"{host}:{port} does not answer: {fault}"}}
    return {"result": {"health": "up"}}


TASKS = {"CREATE": create, "CONFIRM": confirm, "DELETE": delete, "PROBE": probe}


def main():
    order = json.load(sys.stdin)
    task = TASKS[order["taskName"]]
    try:
        say("result", task(order))
    except Failure as failure:
        say("result", {"status": failure.status, "message": str(failure)})
        sys.exit(1)


if __name__ == "__main__":
    main()
