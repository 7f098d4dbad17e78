"""Measures what the recording proxy costs: throughput beside the direct path, and the memory for many streams at once.

Prints the MiB/s of one ReadRows call with prepared responses of 1 MiB, directly and through ``conformance record``, in
turns, with the median and quartiles of the ratios; then the peak memory of the proxy while 1,000 streams are open at
once. Server, proxy and client are a process each.
    python -m benchmarks.proxy [--streams 1000] [--rounds 9]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import grpc.aio
import psutil

METHOD = "/google.cloud.bigquery.storage.v1.BigQueryRead/ReadRows"
SIZE = 1 << 20
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


async def serve() -> None:
    """Answer every call with as many responses, of as many bytes, as its request asks for; print the port."""
    rounds: list[tuple[asyncio.Event, list[None]]] = [(asyncio.Event(), [])]

    async def answer(request: bytes, _context: Any) -> AsyncIterator[bytes]:
        count, size, together = map(int, request.split())
        data = bytes(size)
        yield data
        if together:  # nobody gets a second response before everybody has the first
            opened, waiting = rounds[-1]
            waiting.append(None)
            if len(waiting) == together:
                rounds.append((asyncio.Event(), []))
                opened.set()
            await opened.wait()
        for _ in range(count - 1):
            yield data

    class Handler(grpc.GenericRpcHandler):
        def service(self, _details: grpc.HandlerCallDetails) -> Any:
            return grpc.unary_stream_rpc_method_handler(answer)

    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((Handler(),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


async def read(channel: grpc.aio.Channel, request: str) -> int:
    """Make one call; returns the bytes that came."""
    size = 0
    async for data in channel.unary_stream(METHOD)(request.encode()):
        size += len(data)
    return size


async def rate(address: str, count: int) -> float:
    """MiB per second of one stream of ``count`` responses of 1 MiB."""
    async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        await read(channel, f"2 {SIZE} 0")
        began = time.perf_counter()
        size = await read(channel, f"{count} {SIZE} 0")
        return size / SIZE / (time.perf_counter() - began)


async def together(address: str, streams: int, count: int, size: int) -> int:
    """Open ``streams`` streams at once; each gets ``count`` responses. Returns the bytes of all."""
    async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        calls = [read(channel, f"{count} {size} {streams}") for _ in range(streams)]
        return sum(await asyncio.gather(*calls))


@contextmanager
def process(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process, and the first line that it prints."""
    started = subprocess.Popen(  # noqa: S603  # our own modules
        [sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True
    )
    out: IO[str] | None = started.stdout
    assert out is not None
    try:
        yield started, out.readline()
    finally:
        started.terminate()
        started.wait()


@contextmanager
def recording(upstream: str, log: Path) -> Iterator[tuple[psutil.Process, str]]:
    """The proxy in front of ``upstream``, and its address."""
    with process("conformance", "record", "--upstream", upstream, "--out", str(log)) as (started, line):
        yield psutil.Process(started.pid), f"127.0.0.1:{json.loads(line)['port']}"


def peak(measured: psutil.Process) -> float:
    """The peak of a process's resident memory in MiB, as Linux counts it (proc(5), VmHWM)."""
    status = Path(f"/proc/{measured.pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Run both measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--responses", type=int, default=200, help="responses of 1 MiB in each call")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
        return
    os.environ["GRPC_VERBOSITY"] = "NONE"
    with tempfile.TemporaryDirectory() as folder, process("benchmarks.proxy", "--serve") as (_, port):
        server = f"127.0.0.1:{port.strip()}"
        with recording(server, Path(folder, "rate.log")) as (_, proxy):
            direct, through = [], []
            for _ in range(given.rounds):
                direct.append(asyncio.run(rate(server, given.responses)))
                through.append(asyncio.run(rate(proxy, given.responses)))
        ratios = [one / other for one, other in zip(through, direct, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        print(f"responses of 1 MiB: direct {statistics.median(direct):6.0f} MiB/s", end="   ")
        print(f"through the proxy {statistics.median(through):6.0f} MiB/s", end="   ")
        print(f"ratio {middle:.2f} ({low:.2f} to {high:.2f})")
        for count, size in ((20, 1 << 16), (2, SIZE)):
            with recording(server, Path(folder, "many.log")) as (measured, proxy):
                began, before = time.perf_counter(), peak(measured)
                came = asyncio.run(together(proxy, given.streams, count, size))
                seconds = time.perf_counter() - began
                assert came == given.streams * count * size
                print(
                    f"{given.streams} streams at once, {count} responses of {size >> 10} KiB each: all complete in"
                    f" {seconds:.1f} s, peak memory of the proxy {peak(measured):.0f} MiB ({before:.0f} before)"
                )


if __name__ == "__main__":
    main()
