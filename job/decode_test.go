package job

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobpod"
)

// jobJSON is the output of kubectl get job -o json in fewer lines, with fields of other versions.
const jobJSON = `{
  "apiVersion": "batch/v1", "kind": "Job",
  "metadata": {
    "annotations": {"example.com/team": "red"}, "finalizers": ["foregroundDeletion"], "generation": 2,
    "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T01:00:00Z",
    "name": "pi", "namespace": "default", "resourceVersion": "1234", "uid": "5f1d6a9e-aaaa"
  },
  "spec": {
    "backoffLimit": 4, "completionMode": "Indexed", "completions": 3, "parallelism": 2, "podReplacementPolicy": "Failed",
    "fieldOfLaterVersion": {"deep": [1, 2]}, "manualSelector": false, "suspend": false, "ttlSecondsAfterFinished": 60,
    "podFailurePolicy": {"rules": [
      {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}, "onPodConditions": null},
      {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}]},
    "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "5f1d6a9e-aaaa"}},
    "template": {"metadata": {"labels": {"job-name": "pi"}}, "spec": {
      "containers": [{"image": "perl", "name": "main", "resources": {}}], "initContainers": [{"image": "perl", "name": "setup"}],
      "restartPolicy": "Never", "schedulerName": "default-scheduler"}}
  },
  "status": {
    "active": 1, "completedIndexes": "0,2", "ready": 0, "startTime": "2026-01-01T00:00:01Z",
    "succeeded": 2, "terminating": 0, "uncountedTerminatedPods": {}
  }
}`

func TestDecodeJob(t *testing.T) {
	got, err := DecodeJob([]byte(jobJSON))
	must.OK(t, err)

	container := "main"
	want := Job{
		Namespace: "default", Name: "pi", Version: 1234, UID: "5f1d6a9e-aaaa", CreationTimestamp: second(0), DeletionTimestamp: second(3600),
		Spec: Spec{
			Parallelism: value.To[int32](2), Completions: value.To[int32](3), CompletionMode: Indexed, BackoffLimit: value.To[int32](4),
			TTLSecondsAfterFinished: value.To[int32](60), Suspend: value.To(false), PodReplacementPolicy: ReplaceFailed,
			PodFailurePolicy: &PodFailurePolicy{Rules: []PodFailurePolicyRule{
				{Action: FailJob, OnExitCodes: &OnExitCodes{ContainerName: &container, Operator: ExitCodeIn, Values: []int32{42}}},
				{Action: IgnoreFailure, OnPodConditions: []PodCondition{{Type: "DisruptionTarget", Status: ConditionTrue}}},
			}},
			Selector: &Selector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": "5f1d6a9e-aaaa"}},
			Template: Template{RestartPolicy: RestartNever, Containers: []string{"main"}, InitContainers: []string{"setup"}},
		},
		Status: Status{
			StartTime: second(1), Active: 1, Succeeded: 2, Ready: value.To[int32](0), Terminating: value.To[int32](0),
			CompletedIndexes: "0,2", UncountedTerminatedPods: &UncountedTerminatedPods{},
		},
	}

	Same(t, "job", want, got)
}

// TestDecodeJob_WithoutItsType: typed clients marshal objects without apiVersion and kind.
func TestDecodeJob_WithoutItsType(t *testing.T) {
	j, err := DecodeJob([]byte(`{"metadata": {"name": "j", "uid": "u", "resourceVersion": "7", "creationTimestamp": null}, "spec": {}, "status": {}}`))
	if err != nil || j.Name != "j" || j.UID != "u" || j.Version != 7 {
		t.Errorf("%+v, error %v", j, err)
	}
}

func TestDecode_Refusals(t *testing.T) {
	if new(Template).UnmarshalJSON([]byte(`{"spec": 5}`)) == nil {
		t.Error("a number is the spec of a template")
	}
	for _, v := range []json.Unmarshaler{new(Index), new(Reply), new(Template)} {
		if v.UnmarshalJSON(nil) == nil {
			t.Errorf("%T reads nothing", v)
		}
	}

	decodeJob := func(text string) error { _, err := DecodeJob([]byte(text)); return err }
	decodePod := func(text string) error { _, err := DecodePod(ownerOfPodText(), []byte(text)); return err }
	for _, test := range []struct {
		name, text, want string
		decode           func(string) error
	}{
		{"no JSON", `{`, "decode job: unexpected end of JSON input", decodeJob},
		{"a job of an old version", `{"apiVersion": "batch/v1beta1", "kind": "Job"}`, `decode job: apiVersion: "batch/v1beta1" is not batch/v1`, decodeJob},
		{"another kind", `{"apiVersion": "batch/v1", "kind": "CronJob"}`, `decode job: kind: "CronJob" is not Job`, decodeJob},
		{"nothing", `{}`, "decode job: the object has neither a kind nor a name", decodeJob},
		{"a list", `{"apiVersion": "v1", "kind": "List"}`, `decode job: kind: "List" is a list: decode its items one by one`, decodeJob},
		{"a number that is none", `{"kind": "Job", "apiVersion": "batch/v1", "spec": {"parallelism": "2"}}`, "decode job: json: cannot unmarshal string", decodeJob},
		{"no JSON of a pod", `[`, "decode pod: unexpected end of JSON input", decodePod},
		{"a node", `{"kind": "Node"}`, `decode pod: kind: "Node" is not Pod`, decodePod},
		{"an unknown phase", `{"status": {"phase": "Dreaming"}}`, `decode pod: phase: "Dreaming" is none of`, decodePod},
	} {
		if err := test.decode(test.text); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// podText is the output of kubectl get pod -o json in fewer lines, for a pod that is being deleted.
const podText = `{
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {
    "annotations": {"batch.kubernetes.io/job-completion-index": "2",
      "batch.kubernetes.io/job-index-failure-count": "1", "batch.kubernetes.io/job-index-ignored-failure-count": "3"},
    "creationTimestamp": "2026-01-01T00:00:05Z", "deletionGracePeriodSeconds": 30, "deletionTimestamp": "2026-01-01T00:01:00Z",
    "finalizers": ["example.com/other", "batch.kubernetes.io/job-tracking"],
    "labels": {"batch.kubernetes.io/controller-uid": "5f1d6a9e-aaaa"},
    "generateName": "pi-2-", "name": "pi-2-xyz12", "namespace": "default", "resourceVersion": "4711", "uid": "77b0",
    "ownerReferences": [
      {"apiVersion": "v1", "kind": "ConfigMap", "name": "friend", "uid": "ffff"},
      {"apiVersion": "batch/v1", "blockOwnerDeletion": true, "controller": true, "kind": "Job", "name": "pi", "uid": "5f1d6a9e-aaaa"}]
  },
  "spec": {
    "containers": [{"name": "main"}], "nodeName": "node-1",
    "initContainers": [{"name": "setup"}, {"name": "sidecar", "restartPolicy": "Always"}]
  },
  "status": {
    "conditions": [
      {"lastTransitionTime": "2026-01-01T00:00:40Z", "status": "True", "type": "DisruptionTarget"},
      {"lastTransitionTime": "2026-01-01T00:00:10Z", "status": "True", "type": "Ready"}],
    "containerStatuses": [
      {"name": "main", "restartCount": 1, "state": {"running": {"startedAt": "2026-01-01T00:00:09Z"}}, "lastState": {"terminated": {"exitCode": 3}}}],
    "initContainerStatuses": [
      {"name": "setup", "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-01-01T00:00:07Z"}}},
      {"name": "sidecar", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
    "phase": "Running", "qosClass": "BestEffort"
  }
}`

func ownerOfPodText() *Job {
	return &Job{Namespace: "default", Name: "pi", UID: "5f1d6a9e-aaaa", Spec: Spec{
		Selector: &Selector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": "5f1d6a9e-aaaa"}},
	}}
}

func TestDecodePod(t *testing.T) {
	got, err := DecodePod(ownerOfPodText(), []byte(podText))
	must.OK(t, err)
	want := Pod{
		Name: "pi-2-xyz12", UID: "77b0", Phase: PodRunning, Owner: jobpod.Owned, Ready: true, Assigned: true, Index: IndexAt(2),
		Deletion: &PodDeletion{Timestamp: second(60), GracePeriodSeconds: 30},
		Detail: &PodDetail{
			CreationTimestamp: second(5), ReadyTransition: second(10), ResourceVersion: "4711", FailureCount: 1, IgnoredFailureCount: 3,
			Containers: []jobpod.Container{
				{Name: "main", Restarts: 1, State: jobpod.Running},
				{Name: "setup", Kind: jobpod.Init, State: jobpod.Terminated, FinishedAt: second(7)},
				{Name: "sidecar", Kind: jobpod.RestartableInit, Restarts: 2},
			},
			Conditions: []PodCondition{{Type: "DisruptionTarget", Status: ConditionTrue}, {Type: "Ready", Status: ConditionTrue}},
		},
	}
	Same(t, "pod", want, got)
}

// TestJ32_DecodeReadyUnknown: Ready turns Unknown when a node is lost. That is not the time at
// which the pod finished.
func TestJ32_DecodeReadyUnknown(t *testing.T) {
	for status, want := range map[string]bool{"True": true, "False": true, "Unknown": false} {
		text := strings.Replace(podText, `"status": "True", "type": "Ready"`, `"status": "`+status+`", "type": "Ready"`, 1)
		pod, err := DecodePod(ownerOfPodText(), []byte(text))
		must.OK(t, err)
		if got := !pod.Detail.ReadyTransition.IsZero(); got != want || pod.Ready != (status == "True") {
			t.Errorf("Ready %s: has a transition: %v, want %v", status, got, want)
		}
	}
}

// TestJ6_DecodePodOwner replaces parts of podText.
func TestJ6_DecodePodOwner(t *testing.T) {
	const controller = `"controller": true, "kind": "Job", "name": "pi", "uid": "5f1d6a9e-aaaa"`
	for _, test := range []struct {
		name, old, new string
		want           jobpod.Ownership
	}{
		{"the job is the controller", "", "", jobpod.Owned},
		{"the labels changed", `"labels": {"batch.kubernetes.io/controller-uid": "5f1d6a9e-aaaa"}`, `"labels": {}`, jobpod.OwnedUnmatched},
		{"the job is an owner and nobody the controller", controller, `"controller": false, "kind": "Job", "uid": "5f1d6a9e-aaaa"`, jobpod.Orphan},
		{"an earlier job of this name is the controller", controller, `"controller": true, "kind": "Job", "name": "pi", "uid": "dead"`, jobpod.Foreign},
		{"the pod is in another namespace", `"namespace": "default"`, `"namespace": "kube-system"`, jobpod.Foreign},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(podText, test.old, test.new, 1)
			if test.old != "" && text == podText {
				t.Fatal("nothing was replaced")
			}

			pod, err := DecodePod(ownerOfPodText(), []byte(text))
			must.OK(t, err)
			if pod.Owner != test.want {
				t.Errorf("got %v, want %v", pod.Owner, test.want)
			}
		})
	}
}

// TestDecodePod_ItemOfAList: an item of a list has no kind.
func TestDecodePod_ItemOfAList(t *testing.T) {
	pod, err := DecodePod(ownerOfPodText(), []byte(`{"metadata": {"namespace": "default", "name": "p", "uid": "1"}}`))
	must.OK(t, err)
	if pod.Phase != PodPending || pod.Index != NoIndex() || !pod.Untracked || pod.Assigned || pod.Deletion != nil {
		t.Errorf("a pod of which nothing was heard: %+v", pod)
	}
}

// TestDecodePod_ExitCode: the exit code, which onExitCodes matches, is read (J21).
func TestDecodePod_ExitCode(t *testing.T) {
	pod, err := DecodePod(ownerOfPodText(), []byte(`{"metadata": {"name": "p", "uid": "p"}, "spec": {"containers": [{"name": "main"}]},
		"status": {"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 42}}}]}}`))
	must.OK(t, err)
	if c := pod.Detail.Containers; len(c) != 1 || c[0].State != jobpod.Terminated || c[0].ExitCode != 42 {
		t.Errorf("containers %+v", c)
	}
}
