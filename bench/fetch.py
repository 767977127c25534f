"""Fetching a run of 1,000 items with 10 observations each: requests, and time beside the server's own.

The server is the one of the tests, in a process of its own. What it spends making and writing its answers is its time;
the rest is the SDK, HTTP over the loopback, and labadapt.
"""

import importlib.util
import json
import multiprocessing
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from labadapt.adapters.langfuse.client import Connection, Server
from labadapt.adapters.langfuse.fetch import Surroundings, Wish, fetch

ITEMS, OBSERVATIONS = 1000, 10
RECORDED = Path(__file__).parents[1] / "samples" / "langfuse" / "api-pages"
SERVER = Path(__file__).parents[1] / "tests" / "langfuse" / "server.py"


def server_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("labadapt_bench_langfuse_server", SERVER)
    if spec is None or spec.loader is None:
        raise ImportError(SERVER)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def page(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((RECORDED / name).read_text())["data"]
    return rows


def moment(milliseconds: int) -> str:
    return f"2026-12-01T05:{milliseconds // 60000:02}:{milliseconds // 1000 % 60:02}.{milliseconds % 1000:03}Z"


def store(lab: ModuleType) -> Any:
    """The recorded rows, over and over, with ids and times of their own."""
    [experiment] = [row for row in page("experiments.json") if row["name"] == "policy A"]
    item = page("experiment-items.full.json")[0]
    case = page("dataset-items.json")[0]
    [trace] = RECORDED.glob("obs-v2.83b7*.json")
    tool = next(row for row in page(trace.name) if row["type"] == "TOOL")
    root = next(row for row in page(trace.name) if row["name"] == "experiment-item-task")
    project = lab.Store(datasets=page("v2-datasets.json"), experiments=[experiment | {"endTime": moment(ITEMS * 100)}])
    for number in range(ITEMS):
        trace_id, root_id, case_id = f"{number:032x}", f"{number:012x}0000", f"case-{number}"
        at, owned = {"startTime": moment(number * 100), "endTime": moment(number * 100 + 50)}, {"traceId": trace_id}
        project.dataset_items.append(case | {"id": case_id})
        project.experiment_items.append(
            item
            | at
            | owned
            | {
                "id": root_id,
                "experimentId": experiment["id"],
                "experimentName": "policy A",
                "experimentItemId": case_id,
            }
        )
        project.observations.append(root | at | owned | {"id": root_id})
        for step in range(1, OBSERVATIONS):
            start = {"startTime": moment(number * 100 + step), "endTime": moment(number * 100 + step + 1)}
            ids = {"id": f"{number:012x}{step:04x}", "parentObservationId": root_id}
            project.observations.append(tool | start | owned | ids)
    return project


def serve(pipe: Any) -> None:
    lab = server_module()
    with lab.Langfuse(store(lab)) as server:
        pipe.send((server.address, lab.PUBLIC_KEY, lab.SECRET_KEY))
        while pipe.recv():
            pipe.send((server.spent, server.paths()))


def main() -> None:
    pipe, other = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(other,), daemon=True)
    process.start()
    address, public_key, secret_key = pipe.recv()
    server = Server(Connection(address, public_key, secret_key), time.sleep)
    start = time.perf_counter()
    fetched = fetch(server, Wish("labadapt demo"), Surroundings(time.sleep))
    spent = time.perf_counter() - start
    server.close()
    pipe.send(True)
    replying, paths = pipe.recv()
    pipe.send(False)
    process.join()
    size = sum(len(data) for _, data in fetched.files)
    print(f"{ITEMS} items with {OBSERVATIONS} observations each, {size / 1e6:.1f} MB in {len(fetched.files)} pages")
    for path in dict.fromkeys(paths):
        print(f"  {paths.count(path):4} requests  {path}")
    print(f"  {len(paths):4} requests in all")
    print(f"  {spent:.2f} s fetching, of them {replying:.2f} s the server's replies")


if __name__ == "__main__":
    main()
