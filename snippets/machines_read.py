"""Read a results file and compare two cases that were timed in turns. The file's text is made up here."""

# --8<-- [start:read]
import json
from statistics import median

text = """
{"records": [
  {"experiment": "strategies", "group": "on cpu", "case": "lesson", "role": "base", "samples": [100e-6, 200e-6, 110e-6]},
  {"experiment": "strategies", "group": "on cpu", "case": "by hand", "role": "case", "samples": [30e-6, 62e-6, 33e-6]}
]}
"""
records = json.loads(text)["records"]


def samples(experiment, group, case):
    for record in records:
        if (record["experiment"], record["group"], record["case"]) == (experiment, group, case) and record["role"] != "twin":
            return record["samples"]


base, hand = samples("strategies", "on cpu", "lesson"), samples("strategies", "on cpu", "by hand")
print("ratio:", round(median(one / other for one, other in zip(hand, base)), 3))
# --8<-- [end:read]
