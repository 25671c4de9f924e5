package batchtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/internal/must"
)

// told returns a status in one line: the phase, the conditions that are true, and each container.
func told(s *corev1.PodStatus) string {
	out := []string{string(s.Phase)}
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.PodReady || c.Type == corev1.DisruptionTarget) {
			out = append(out, strings.TrimSpace(string(c.Type)+" "+c.Reason))
		}
	}

	for _, all := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for _, c := range all {
			text := c.Name + " runs"
			if c.State.Waiting != nil {
				text = c.Name + " waits"
			}
			if end := c.State.Terminated; end != nil {
				text = fmt.Sprintf("%s exit %d", c.Name, end.ExitCode)
			}
			if c.RestartCount > 0 {
				text += fmt.Sprintf(" (%d)", c.RestartCount)
			}
			out = append(out, text)
		}
	}

	return strings.Join(out, ", ")
}

func TestLife(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	inits := []corev1.Container{{Name: "init"}, {Name: "side", RestartPolicy: &always}}

	for _, c := range []struct {
		name    string
		b       Behaviour
		inits   []corev1.Container
		policy  corev1.RestartPolicy // Never if empty
		deleted time.Duration        // after the pod got its node, if not 0; the grace period is 30 s
		at      time.Duration
		want    string
	}{
		{"succeeds at once", Succeed(), nil, "", 0, 0, "Succeeded, main exit 0, helper exit 0"},
		{"runs", SucceedAfter(time.Minute), nil, "", 0, 59 * time.Second, "Running, Ready, main runs, helper runs"},
		{"has run", SucceedAfter(time.Minute), nil, "", 0, time.Minute, "Succeeded, main exit 0, helper exit 0"},
		{"fails", FailWith(42), nil, "", 0, 0, "Failed, main exit 42, helper exit 0"},
		{"another container fails", Behaviour{ExitCode: 3, Container: "helper"}, nil, "", 0, 0, "Failed, main exit 0, helper exit 3"},
		{"is not ready yet", Behaviour{Run: Never, Unready: time.Second}, nil, "", 0, 0, "Running, main runs, helper runs"},
		{"is ready", Behaviour{Run: Never, Unready: time.Second}, nil, "", 0, time.Second, "Running, Ready, main runs, helper runs"},
		{"an init container runs", Behaviour{Init: time.Second, Run: Never}, inits, "", 0, 0, "Pending, init runs, side waits, main waits, helper waits"},
		{"a sidecar runs", Behaviour{Init: time.Second, Run: Never}, inits, "", 0, time.Second, "Running, Ready, init exit 0, side runs, main runs, helper runs"},
		{"a sidecar ends with the others", Succeed(), inits, "", 0, 0, "Succeeded, init exit 0, side exit 0, main exit 0, helper exit 0"},
		{"an init container fails", Behaviour{ExitCode: 2, Container: "init"}, inits, "", 0, 0, "Failed, init exit 2, side waits, main waits, helper waits"},
		{"an init container restarts", Behaviour{ExitCode: 2, Container: "init"}, inits, corev1.RestartPolicyOnFailure, 0, 0, "Pending, init waits (2), side waits, main waits, helper waits"},
		{"restarts twice", Behaviour{Restarts: 2}, nil, corev1.RestartPolicyOnFailure, 0, time.Second, "Succeeded, main exit 0 (2), helper exit 0"},
		{"restarts with a delay", FailWith(1), nil, corev1.RestartPolicyOnFailure, 0, 0, "Running, main waits (2), helper runs"},
		{"cannot restart", Behaviour{Restarts: 2}, nil, "", 0, 0, "Failed, main exit 1, helper exit 0"},
		{"is evicted", Evict(), nil, "", 0, 0, "Failed, DisruptionTarget TerminationByKubelet, main exit 137, helper exit 137"},
		{"is preempted", Preempt(), nil, "", 0, time.Hour, "Running, Ready, DisruptionTarget PreemptionByScheduler, main runs, helper runs"},
		{"stops", Hang(), nil, "", time.Second, time.Second, "Failed, main exit 143, helper exit 143"},
		{"stops later", Behaviour{Run: Never, Stop: time.Minute}, nil, "", time.Second, 30 * time.Second, "Running, Ready, main runs, helper runs"},
		{"is killed", Behaviour{Run: Never, Stop: time.Minute}, nil, "", time.Second, 31 * time.Second, "Failed, main exit 137, helper exit 137"},
		{"succeeds while it is deleted", Behaviour{Run: 3 * time.Second, Stop: time.Minute}, nil, "", time.Second, 5 * time.Second, "Succeeded, main exit 0, helper exit 0"},
		{"its node is lost", LoseNode(time.Second, time.Minute), nil, "", 2 * time.Second, time.Minute, "Running, DisruptionTarget DeletionByTaintManager, main runs, helper runs"},
		{"is collected", LoseNode(time.Second, time.Minute), nil, "", 2 * time.Second, 62 * time.Second, "Failed, DisruptionTarget DeletionByPodGC, main exit 137, helper exit 137"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Date(2026, 10, 14, 9, 0, 0, 0, time.UTC)
			pod := &corev1.Pod{Spec: corev1.PodSpec{
				RestartPolicy: c.policy, InitContainers: c.inits, Containers: []corev1.Container{{Name: "main"}, {Name: "helper"}},
			}}
			if c.policy == "" {
				pod.Spec.RestartPolicy = corev1.RestartPolicyNever
			}
			must.OK(t, c.b.check(pod))

			l := &life{Behaviour: c.b, since: begin}
			l.bind(begin)
			grace := int64(30)
			for now := begin; ; now = now.Add(100 * time.Millisecond) {
				if c.deleted > 0 && !now.Before(begin.Add(c.deleted)) {
					pod.DeletionGracePeriodSeconds = &grace
					l.deleted(pod, now)
				}
				next := l.advance(pod, now)
				if !next.IsZero() && !next.After(now) {
					t.Fatalf("at %v it is to be looked at again at %v", now, next)
				}
				if now.Equal(begin.Add(c.at)) {
					if got := told(l.status(pod, now)); got != c.want {
						t.Errorf("got  %s\nwant %s", got, c.want)
					}
					return
				}
			}
		})
	}
}

func TestBehaviour_NoSuchContainer(t *testing.T) {
	b := Behaviour{Container: "side"}
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "side", RestartPolicy: &always}}, Containers: []corev1.Container{{Name: "main"}}}}
	if err := b.check(pod); err == nil || !strings.Contains(err.Error(), `container "side"`) {
		t.Errorf("a sidecar: %v", err)
	}
}

func TestMatches(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Labels = "ns", map[string]string{"a": "b"}
	pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "3"}
	for name, c := range map[string]struct {
		match Match
		want  bool
	}{
		"namespace": {InNamespace("ns"), true}, "another namespace": {InNamespace("other"), false},
		"index": {Index(1, 3), true}, "another index": {Index(30), false},
		"attempt": {Attempt(2), true}, "another attempt": {Attempt(0, 1), false},
		"label": {Labelled(map[string]string{"a": "b"}), true}, "another value": {Labelled(map[string]string{"a": "c"}), false},
		"another label": {Labelled(map[string]string{"c": ""}), false}, "no job": {OfJob(""), false}, "no owner": {OwnedBy(&corev1.Pod{}), false},
	} {
		if got := c.match(pod, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestClock(t *testing.T) {
	c := newClock(1000)
	began, real := c.Now(), time.Now()
	timer := c.NewTimer(20 * time.Second)
	<-timer.C()
	if took := time.Since(real); took < 20*time.Millisecond {
		t.Errorf("20 s at 1000 took %v", took)
	}
	if took := c.Since(began); took < 20*time.Second {
		t.Errorf("the clock says %v", took)
	}
}
