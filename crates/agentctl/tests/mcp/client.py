"""What a real MCP client does with `agentctl mcp`, one function a scenario. Started by the tests next to this file as
`client.py SCENARIO MODE AGENTCTL OPTION...`; a scenario that fails raises."""

import asyncio
import contextlib
import os
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

FACTS = "agentctl/result"


def expect(truth, what):
    if not truth:
        raise AssertionError(what)


async def call(client, tool, arguments, **more):
    result = await client.call_tool(tool, arguments, **more)
    return result.content[0].text, result


async def run(client, command, **more):
    text, result = await call(client, "run_command", {"command": command, **more})
    expect(not result.is_error, text)
    return text, result.meta[FACTS]


async def lists(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    names = ["run_command", "start_command", "read_output", "write_input", "stop_command", "sandbox_status"]
    expect(list(tools) == names, tools)
    expect(tools["run_command"].input_schema["required"] == ["command"], tools["run_command"])
    expect(tools["sandbox_status"].annotations.read_only_hint, tools["sandbox_status"])
    expect("Network: none" in tools["run_command"].description, tools["run_command"].description)
    expect("Network: none" in client.instructions, client.instructions)


async def runs(client):
    text, facts = await run(client, "echo out; echo err >&2; exit 3")
    expect(text.startswith("exit code 3 after "), text)
    expect(text.endswith("--- stdout ---\nout\n--- stderr ---\nerr\n"), text)
    expect((facts["exit_code"], facts["ended"]) == (3, "exited"), facts)
    expect(facts["executor"] == os.environ["SANDBOX"], facts)
    # One sandbox for all calls; variables are a command's own.
    await run(client, "echo kept > /tmp/kept; export X=1")
    text, _ = await run(client, 'cat /tmp/kept; echo "[$X]"', cwd="sub")
    expect("kept\n[]" in text, text)
    text, _ = await run(client, "pwd; cat", cwd="sub", stdin="read this")
    expect("/sub\nread this" in text, text)


async def explains(client):
    text, facts = await run(client, "sleep 60", timeout_seconds=0.3)
    expect(facts["ended"] == "timed_out" and "raise the option `timeout`" in text, text)
    text, _ = await run(client, "touch /usr/x")
    expect("Read-only file system" in text and "option `mounts` to make more writable" in text, text)
    text, _ = await run(client, "printf 'a\\033]52;c;eA==\\007\\033[31mred\\033[0m'")
    expect("a^[]52;c;eA==^Gred" in text, text)


async def corrects(client):
    wrong = [
        ("run_command", {}, "`command` is missing"),
        ("run_command", {"comand": "ls"}, "did you mean `command`?"),
        ("run_command", {"command": ["ls"]}, "`command` must be a text, not a list"),
        ("run_command", {"command": "ls", "timeout_seconds": "5m"}, 'not the text "5m"'),
        ("run_command", {"command": "ls", "timeout_seconds": 9999}, "may be at most 60 here"),
        ("run_command", {"command": "ls", "cwd": "../.."}, "is not within the workspace"),
        ("run_command", {"command": "ls", "cwd": "nowhere"}, "create it first"),
        ("run_command", {"command": "ls", "image": "other"}, "unknown argument `image`"),
        ("run_command", {"command": "ls", "network": "host"}, "unknown argument `network`"),
        ("run_command", {"command": "ls", "save_output": "/usr/x"}, "can't write `/usr/x`"),
        ("read_output", {"id": 77}, "background command 77 does not exist"),
        ("bash", {"command": "ls"}, "the tools are run_command"),
    ]
    for tool, arguments, hint in wrong:
        text, result = await call(client, tool, arguments)
        expect(result.is_error and hint in text, (tool, arguments, text))


async def backgrounds(client):
    _, started = await call(client, "start_command", {"command": "while read x; do echo got $x; done; echo bye >&2"})
    id = started.meta[FACTS]["id"]
    await call(client, "write_input", {"id": id, "input": "grün\n"})
    text, read = await call(client, "read_output", {"id": id, "wait_seconds": 30})
    expect("is running" in text and "got grün\n" in text, text)
    cursor = read.meta[FACTS]["cursor"]
    text, _ = await call(client, "read_output", {"id": id, "cursor": cursor})
    expect("(nothing new)" in text, text)
    text, _ = await call(client, "sandbox_status", {})
    expect("It works" in text and f"command {id} " in text, text)
    await call(client, "write_input", {"id": id, "end": True})
    ended, state = "", None
    while state is None:
        text, read = await call(client, "read_output", {"id": id, "cursor": cursor, "wait_seconds": 30})
        ended, cursor, state = ended + text, read.meta[FACTS]["cursor"], read.meta[FACTS]["state"]["ended"]
    expect(state == "exited" and "--- stderr ---\nbye\n" in ended, ended)
    text, result = await call(client, "write_input", {"id": id, "input": "x"})
    expect(result.is_error and "has ended: exit code 0" in text, text)
    _, started = await call(client, "start_command", {"command": "test -t 1 && echo terminal; sleep 600", "terminal": True})
    id = started.meta[FACTS]["id"]
    text, _ = await call(client, "read_output", {"id": id, "wait_seconds": 30})
    expect("terminal" in text, text)
    text, _ = await call(client, "stop_command", {"id": id})
    expect("has ended: stopped" in text, text)


async def every_tool(client):
    for scenario in [lists, runs, explains, corrects, backgrounds]:
        await scenario(client)


async def progress(client):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, message))

    command = "for i in 1 2 3; do echo line $i; while [ ! -e go$i ]; do sleep 0.02; done; done"
    going = asyncio.create_task(call(client, "run_command", {"command": command}, progress_callback=hear))
    for i in (1, 2, 3):
        # The command waits for us, so its output must be reported while it runs.
        while not any(f"line {i}\n" in message for _, message in heard):
            expect(not going.done(), "it ended before its output was reported")
            await asyncio.sleep(0.02)
        open(f"go{i}", "w").close()
    await going
    steps = [progress for progress, _ in heard]
    expect(steps == sorted(set(steps)), steps)


async def big(client):
    """10 MB: both ends, an exact count, and all of it in a file."""
    lines = 10_000_000 // 10
    command = f"seq -f %09.0f {lines}"
    text, facts = await run(client, command, save_output="all.txt")
    expect(facts["stdout_bytes"] == 10_000_000, facts)
    kept = 10_000_000 - facts["stdout_omitted"]
    expect(kept == 32 * 1024 and f"[… {facts['stdout_omitted']} of 10000000 bytes left out here …]" in text, facts)
    expect("\n000000001\n" in text and text.endswith("001000000\n") and len(text) < 40_000, text[-100:])
    expect("the whole output is in all.txt" in text, text[:200])
    with open("all.txt") as saved:
        expect(sum(1 for _ in saved) == lines, "lines in the file")
    _, started = await call(client, "start_command", {"command": command})
    id, cursor, seen, lost, state = started.meta[FACTS]["id"], 0, 0, 0, None
    while state is None or more:
        _, read = await call(client, "read_output", {"id": id, "cursor": cursor, "wait_seconds": 30})
        facts = read.meta[FACTS]
        seen += facts["cursor"] - cursor - facts["lost"]
        lost, cursor = lost + facts["lost"], facts["cursor"]
        state, more = facts["state"]["ended"], facts["more"]
    expect(seen + lost == cursor == 10_000_000, (seen, lost, cursor))


async def binary(client):
    text, facts = await run(client, "head -c 1000000 /dev/urandom")
    expect("[1000000 bytes of binary data" in text and facts["stdout_bytes"] == 1000000, text)
    text, _ = await run(client, "printf 'na\\357ve \\342\\202'")
    expect("na<ef>ve <e2><82>" in text, text)
    _, started = await call(client, "start_command", {"command": "printf '\\342'; read x; printf '\\202\\254'"})
    id = started.meta[FACTS]["id"]
    await call(client, "write_input", {"id": id, "input": "\n"})
    text, state, cursor = "", None, 0
    while state is None:
        page, read = await call(client, "read_output", {"id": id, "cursor": cursor, "wait_seconds": 30})
        text, cursor, state = text + page, read.meta[FACTS]["cursor"], read.meta[FACTS]["state"]["ended"]
    expect("€" in text or "<e2>" in text, text)


async def many(client):
    """50 at once, each with its own output and code."""
    answers = await asyncio.gather(*(run(client, f"sleep 0.2; echo call {i}; exit {i}") for i in range(50)))
    for i, (text, facts) in enumerate(answers):
        expect(facts["exit_code"] == i and f"call {i}\n" in text, text)


async def cancel(client):
    """Cancels a running call; the tests check that it is dead. Others keep running."""
    marker, other = os.environ["MARKER"], os.environ["OTHER"]
    _, started = await call(client, "start_command", {"command": f"sleep {other}"})
    going = asyncio.create_task(call(client, "run_command", {"command": f"(setsid setsid sleep {marker} &) ; sleep {marker}"}))
    await report("ready")
    going.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await going
    await report("cancelled")
    text, _ = await run(client, "echo still here")
    expect("still here" in text, text)
    text, _ = await call(client, "sandbox_status", {})
    expect("is running" in text, text)


async def killed(client):
    """Killed in the middle, with everything there is to leave behind."""
    marker, other = os.environ["MARKER"], os.environ["OTHER"]
    await call(client, "start_command", {"command": f"sleep {other}"})
    await run(client, f"(setsid setsid sleep {marker} &)")
    asyncio.create_task(call(client, "run_command", {"command": f"sleep {marker}"}))
    await report("ready")
    await asyncio.sleep(600)


async def reader(client):
    """A worker that may only look."""
    expect([tool.name for tool in (await client.list_tools()).tools] == ["sandbox_status"], "tools")
    text, result = await call(client, "run_command", {"command": "touch made"})
    expect(result.is_error and "`run_command` is not allowed here" in text, text)
    text, _ = await call(client, "sandbox_status", {})
    expect("It works" in text, text)


async def report(line):
    """Reports to the tests and waits for their answer."""
    print(line, flush=True)
    expect(await asyncio.to_thread(sys.stdin.readline) == "go\n", "the tests are gone")


@contextlib.asynccontextmanager
async def transport(command, options):
    url = os.environ.get("URL")
    if url:
        import httpx2

        headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            yield streamable_http_client(url, http_client=http)
    else:
        yield stdio_client(StdioServerParameters(command=command, args=options, env=dict(os.environ), cwd=os.getcwd()))


async def main(scenario, mode, command, *options):
    async with transport(command, list(options)) as streams, Client(streams, mode=mode) as client:
        expected = {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
        expect(client.protocol_version == expected, client.protocol_version)
        await globals()[scenario](client)


asyncio.run(main(*sys.argv[1:]))
