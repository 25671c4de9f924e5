"""A planner of jobs in Python: it reads snapshots of jobs, one a line, and answers each with a plan and the
status to write. x/cmd/jobcheck asks it and says which invariants it breaks:

    go run -C x/cmd ./jobcheck -questions 1000 -- python3 ../../examples/planner/planner.py

It counts pods, replaces failed ones after a backoff, and ends the job by completions, backoffLimit and
activeDeadlineSeconds. It refuses jobs with policies or limits for each index, modes that it does not know, and pods that it
would have to adopt or that share an index.
"""

import json
import sys
from datetime import datetime, timedelta

REFUSED = ("backoffLimitPerIndex", "podFailurePolicy", "successPolicy", "managedBy")


def read_indexes(text):
    """The set of a list of indexes such as 1,3-5."""
    found = set()
    for piece in filter(None, (text or "").split(",")):
        first, _, last = piece.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def write_indexes(indexes):
    """The text of a set of indexes: three or more in a row are a range."""
    runs = []
    for i in sorted(indexes):
        if runs and runs[-1][1] == i - 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    return ",".join(str(a) if a == b else f"{a},{b}" if b == a + 1 else f"{a}-{b}" for a, b in runs)


def condition(status, kind):
    return any(c["type"] == kind and c["status"] == "True" for c in status.get("conditions", []))


def time_of(text):
    return datetime.fromisoformat(text)


def finished(pod):
    detail = pod.get("detail", {})
    times = [c["finishedAt"] for c in detail.get("containers", []) if "finishedAt" in c]
    return max(map(time_of, times or [detail.get("readyTransition") or detail["creationTimestamp"]]))


class Round:
    """What one snapshot shows. Pods of other owners are left alone."""

    def __init__(self, snapshot):
        self.now = snapshot["now"]
        self.job = snapshot["job"]
        self.spec, self.old = self.job["spec"], self.job.get("status", {})
        self.limit = snapshot.get("options", {}).get("maxPodWrites", 500)
        # In one order, so that the answer does not depend on that of the snapshot.
        self.pods = sorted((p for p in snapshot.get("pods", []) if not p.get("owner")), key=lambda p: p["uid"])
        self.indexed = self.spec.get("completionMode") == "Indexed"
        self.completions = self.spec.get("completions")
        unfinished = [p for p in self.pods if p.get("phase", "Pending") not in ("Succeeded", "Failed")]
        self.active = [p for p in unfinished if "deletion" not in p]
        self.terminating = [p for p in unfinished if "deletion" in p]

    def tracked(self, phase):
        return [p for p in self.pods if p.get("phase") == phase and not p.get("untracked")]

    def count(self):
        """Move the pods that have lost their finalizer into the counters, and list those that have ended. A
        UID is in a list before its pod loses the finalizer, so that a crash in between counts it once."""
        held = {p["uid"] for p in self.pods if not p.get("untracked")}
        before = self.old.get("uncountedTerminatedPods") or {}
        self.lists, self.counted = {}, {}
        for name, phase in (("succeeded", "Succeeded"), ("failed", "Failed")):
            was = before.get(name, [])
            self.counted[name] = self.old.get(name, 0) + sum(uid not in held for uid in was)
            self.lists[name] = [uid for uid in was if uid in held]
        listed = set(self.lists["succeeded"] + self.lists["failed"])
        for name, phase in (("succeeded", "Succeeded"), ("failed", "Failed")):
            if not (self.indexed and name == "succeeded"):
                self.lists[name] += [p["uid"] for p in self.tracked(phase) if p["uid"] not in listed]
        self.failed = self.counted["failed"] + len(self.lists["failed"])
        self.done = self.counted["succeeded"] + len(self.lists["succeeded"])
        if self.indexed:
            new = {p.get("index", -1) for p in self.tracked("Succeeded")}
            self.indexes = {i for i in read_indexes(self.old.get("completedIndexes")) | new if 0 <= i < self.completions}
            self.done = self.counted["succeeded"] = len(self.indexes)

    def end(self):
        """How the job is going to end: the interim condition with its reason, or None."""
        for kind in ("FailureTarget", "SuccessCriteriaMet"):
            for c in self.old.get("conditions", []):
                if c["type"] == kind and c["status"] == "True":
                    return kind, c["reason"], c.get("message", "")
        if self.failed > self.spec["backoffLimit"] or self.too_many_restarts():
            return "FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        deadline, start = self.spec.get("activeDeadlineSeconds"), self.old.get("startTime")
        if deadline is not None and start and not self.spec.get("suspend"):
            if (time_of(self.now) - time_of(start)).total_seconds() >= deadline:
                return "FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline"
        if self.completions is None:
            enough = self.done > 0 and not self.active
        else:
            enough = self.done >= self.completions
        if enough:
            return "SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods"
        return None

    def too_many_restarts(self):
        """Containers that are restarted in place use up the backoffLimit as well."""
        if self.spec["template"]["spec"]["restartPolicy"] != "OnFailure":
            return False
        restarts = sum(c.get("restarts", 0) for p in self.active + self.terminating for c in p.get("detail", {}).get("containers", []))
        return restarts >= max(self.spec["backoffLimit"], 1)

    def backoff(self):
        """When failed pods may be replaced: after 10 s, 20 s, 40 s, ... 10 min, by how many have failed since the
        last success. The pods that are there say so, and no memory is needed. Clocks go back: a failure that is not
        counted yet is later than any success, whatever its time."""
        success = max((finished(p) for p in self.pods if p.get("phase") == "Succeeded"), default=None)
        failures = [finished(p) for p in self.pods if p.get("phase") == "Failed"
                    and (not p.get("untracked") or success is None or finished(p) >= success)]
        if not failures:
            return None
        due = max(failures) + timedelta(seconds=min(600, 10 * 2 ** (len(failures) - 1)))
        return due if due > time_of(self.now) else None

    def plan(self, end):
        """Which pods to create or to delete, and which finalizers to remove."""
        create, delete = [], []
        parallelism = self.spec["parallelism"]
        if self.completions is not None:
            parallelism = min(parallelism, self.completions - self.done)
        elif self.done > 0:
            parallelism = min(parallelism, len(self.active))
        if end or self.spec.get("suspend"):
            parallelism = 0
        missing = parallelism - len(self.active) - len(self.terminating)
        surplus = len(self.active) - parallelism
        if surplus > 0:
            # Pods that do not run yet lose least.
            ranked = sorted(self.active, key=lambda p: (p.get("phase") == "Running", p.get("ready", False), p["uid"]))
            delete = ranked[: surplus if end else min(surplus, self.limit)]
        elif missing > 0 and not self.backoff():
            create = self.create(min(missing, self.limit))
        known = set(self.lists["succeeded"] + self.lists["failed"])
        untrack = [p for p in self.tracked("Succeeded") + self.tracked("Failed") if p["uid"] in known or self.indexed]
        due = self.backoff()
        return {
            "requeue": {"at": due.isoformat()} if missing > 0 and due else {},
            "create": create,
            "delete": [dict(ref(p), untrackFirst=True, reason="Ending") for p in delete],
            "untrack": [dict(ref(p)) for p in untrack],
        }, delete

    def create(self, n):
        name = self.job["name"]
        if not self.indexed:
            return [{"index": -1, "namePrefix": name + "-", "reason": "New"}] * n
        taken = self.indexes | {p.get("index", -1) for p in self.active + self.terminating}
        free = [i for i in range(self.completions) if i not in taken][:n]
        return [{"index": i, "namePrefix": f"{name}-{i}-", "hostname": f"{name}-{i}", "reason": "New"} for i in free]

    def status(self, end, created, deleted):
        """The status to write once the plan's creations and deletions are done."""
        active = [p for p in self.active if p not in deleted]
        gone = [p for p in deleted if p.get("phase") != "Running"]
        s = dict(self.old, active=len(active) + created, failed=self.counted["failed"], succeeded=self.counted["succeeded"])
        s["ready"] = sum(p.get("ready", False) for p in active)
        s["terminating"] = len(self.terminating) + len(deleted) - len(gone)
        s["uncountedTerminatedPods"] = {k: v for k, v in self.lists.items() if v}
        if self.indexed:
            s["completedIndexes"] = write_indexes(self.indexes)
        s["conditions"] = list(self.old.get("conditions", []))
        suspended = bool(self.spec.get("suspend")) and not end
        if suspended != condition(self.old, "Suspended") and not end:
            s["conditions"] = [c for c in s["conditions"] if c["type"] != "Suspended"]
            s["conditions"].append(self.condition("Suspended", "JobSuspended" if suspended else "JobResumed", "", suspended))
            s.pop("startTime", None)
        if not suspended and "startTime" not in s:
            s["startTime"] = self.now
        if end:
            self.add_end(s, *end)
        return s

    def add_end(self, s, kind, reason, message):
        """First the interim condition; the final one once nothing is left to count or to stop."""
        if not condition(s, kind):
            s["conditions"].append(self.condition(kind, reason, message))
        ended = self.tracked("Succeeded") + self.tracked("Failed")
        if condition(self.old, kind) and not (s["active"] or s["terminating"] or s["uncountedTerminatedPods"] or ended):
            final = "Failed" if kind == "FailureTarget" else "Complete"
            s["conditions"].append(self.condition(final, reason, message))
            if final == "Complete":
                s["completionTime"] = max(self.now, s["startTime"], key=time_of)  # clocks go back

    def condition(self, kind, reason, message, true=True):
        return {"type": kind, "status": "True" if true else "False", "reason": reason, "message": message,
                "lastProbeTime": self.now, "lastTransitionTime": self.now}


def ref(pod):
    return {"name": pod["name"], "uid": pod["uid"], "resourceVersion": pod.get("detail", {}).get("resourceVersion", "")}


def answer(snapshot):
    job = snapshot["job"]
    refused = [name for name in REFUSED if name in job["spec"]]
    if any(p.get("owner") == "Orphan" for p in snapshot.get("pods", [])):
        refused.append("adoption")
    if job["spec"].get("completionMode") not in (None, "NonIndexed", "Indexed"):
        refused.append("completionMode")
    r = Round(snapshot)
    if r.indexed:
        indexes = [p.get("index", -1) for p in r.active]
        if len(set(indexes)) < len(indexes) or not all(0 <= i < r.completions for i in indexes):
            refused.append("pods without an index of their own")
    if refused:
        return {"error": "not supported: " + ", ".join(refused)}
    if "deletionTimestamp" in job or condition(r.old, "Complete") or condition(r.old, "Failed"):
        return {"plan": {"untrack": [ref(p) for p in r.pods if not p.get("untracked")]}}
    r.count()
    end = r.end()
    plan, deleted = r.plan(end)
    # Pods that have lost the labels of the job are let go.
    plan["release"] = [ref(p) for p in snapshot.get("pods", []) if p.get("owner") == "OwnedUnmatched"]
    return {"plan": plan, "status": r.status(end, len(plan["create"]), deleted)}


for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], **answer(question["snapshot"])}), flush=True)
