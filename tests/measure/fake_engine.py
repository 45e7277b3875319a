#!/usr/bin/env python3
"""A stand-in of an inference engine: decodes in a loop, and shows a page of its figures.

    fake_engine.py vllm|sglang     prints the port of http://127.0.0.1:PORT/metrics, then runs

A step of the loop computes for some milliseconds, so that its time depends on the CPUs that the
process may use and on who else does. Names, labels, help and bounds are those of
vllm/v1/metrics/loggers.py and sglang/srt/observability/metrics_collector.py; the format is that
of prometheus_client.
"""

import hashlib
import http.server
import sys
import threading
import time

ENGINES = {
    "vllm": {
        "labels": 'engine="0",model_name="Qwen/Qwen3-32B"',
        "running": ("vllm:num_requests_running", "Number of requests in model execution batches."),
        "tokens": ("vllm:generation_tokens", "Number of generation tokens processed."),
        "latency": ("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds."),
        "bounds": [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0,
                   7.5, 10.0, 20.0, 40.0, 80.0],
    },
    "sglang": {
        "labels": 'engine_type="unified",model_name="Qwen/Qwen3-32B"',
        "running": ("sglang:num_running_reqs", "The number of running requests."),
        "tokens": ("sglang:generation_tokens", "Number of generation tokens processed."),
        "latency": ("sglang:inter_token_latency_seconds", "Histogram of inter-token latency in seconds."),
        "bounds": [0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06,
                   0.08, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0],
    },
}
RUNNING = 4
WORK = b"x" * (1 << 20)


class Engine:
    def __init__(self, name):
        self.names = ENGINES[name]
        self.lock = threading.Lock()
        self.start = time.time()
        self.tokens = 0
        self.sum = 0.0
        self.counts = [0] * (len(self.names["bounds"]) + 1)

    def decode(self):
        """One step: a token for each running request."""
        begin = time.monotonic()
        for _ in range(4):
            hashlib.sha256(WORK).digest()
        took = time.monotonic() - begin
        slot = sum(took > bound for bound in self.names["bounds"])
        with self.lock:
            self.tokens += RUNNING
            self.counts[slot] += RUNNING
            self.sum += took * RUNNING

    def page(self):
        labels = self.names["labels"]
        with self.lock:
            tokens, total, counts = self.tokens, self.sum, list(self.counts)
        lines = ["# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.",
                 "# TYPE process_start_time_seconds gauge",
                 f"process_start_time_seconds {self.start:.2f}"]
        name, words = self.names["running"]
        lines += [f"# HELP {name} {words}", f"# TYPE {name} gauge", f"{name}{{{labels}}} {RUNNING}.0"]
        name, words = self.names["tokens"]
        lines += [f"# HELP {name}_total {words}", f"# TYPE {name}_total counter",
                  f"{name}_total{{{labels}}} {float(tokens)}",
                  f"# HELP {name}_created {words}", f"# TYPE {name}_created gauge",
                  f"{name}_created{{{labels}}} {self.start!r}"]
        name, words = self.names["latency"]
        lines += [f"# HELP {name} {words}", f"# TYPE {name} histogram"]
        seen = 0
        for bound, count in zip([*map(str, self.names["bounds"]), "+Inf"], counts):
            seen += count
            lines.append(f'{name}_bucket{{le="{bound}",{labels}}} {float(seen)}')
        lines += [f"{name}_count{{{labels}}} {float(seen)}", f"{name}_sum{{{labels}}} {total!r}"]
        return "\n".join(lines) + "\n"


def serve(engine):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = engine.page().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    engine = Engine(sys.argv[1])
    print(serve(engine), flush=True)
    while True:
        engine.decode()


main()
