package script

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// merge changes the status of a pod: its second argument is a strategic merge patch
// of the status, without spaces.
func merge(w *World, p *corev1.Pod, s Step) error {
	return status(w, p, func(p *corev1.Pod) { mergeInto(&p.Status, s.Arg(1)) })
}

// mergeJob changes the status of the job "j", as another writer would.
func mergeJob(w *World, _ *Script, s Step) error {
	if server.Get[*batchv1.Job](w.Server, Namespace, "j") == nil {
		return nil
	}
	return server.ChangeStatus(w.Server, Namespace, "j", func(j *batchv1.Job) { mergeInto(&j.Status, s.Arg(0)) })
}

// mergeInto panics if the script contains an invalid patch.
func mergeInto[T any](into *T, patch string) {
	before, err := json.Marshal(into)
	must(err)
	after, err := strategicpatch.StrategicMergePatch(before, []byte(patch), *into)
	must(err)
	var merged T
	must(line.Decode(string(after), &merged))
	*into = merged
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
