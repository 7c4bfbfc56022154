# Runs a command on every machine at once, again and again, over connections that are open. Prints how many seconds it took.
import sys
import time

from pssh.clients import ParallelSSHClient
from pssh.config import HostConfig

rounds, user, key, ports = int(sys.argv[1]), sys.argv[2], sys.argv[3], [int(port) for port in sys.argv[4:]]
configs = [HostConfig(port=port, user=user, private_key=key) for port in ports]
client = ParallelSSHClient(["127.0.0.1"] * len(ports), host_config=configs, pool_size=len(ports))


def run():
    output = client.run_command("true")
    client.join(output)
    assert all(host.exit_code == 0 for host in output)


run()
begun = time.monotonic()
for _ in range(rounds):
    run()
print(time.monotonic() - begun)
