package convert_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/batchplan/batchplan/job"
)

// uids has few elements, so that owners and jobs often match.
var uids = []types.UID{"", "a", "b"}

// fill fills an object from the bytes of a fuzzer. The JSON of the object decodes to the same
// object, and the fields that are converted get plausible values.
func fill(data []byte, object any) {
	randfill.NewFromGoFuzz(data).NilChance(0.3).NumElements(0, 4).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) { *s = pick(c, "", "x", "y", "x1", "Ready", "main") },
		func(u *types.UID, c randfill.Continue) { *u = pick(c, uids...) },
		func(t *metav1.Time, c randfill.Continue) { *t = someTime(c) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = someTime(c).Time },
		func(q *resource.Quantity, c randfill.Continue) { *q = resource.MustParse("1") },
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(1) },
		func(f *metav1.FieldsV1, c randfill.Continue) { _ = f.UnmarshalJSON([]byte("{}")) },
		func(m *metav1.TypeMeta, c randfill.Continue) {},
		func(p *corev1.PodPhase, c randfill.Continue) {
			*p = pick(c, "", corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown)
		},
		func(t *corev1.PodConditionType, c randfill.Continue) {
			*t = pick(c, corev1.PodReady, corev1.DisruptionTarget)
		},
		func(s *corev1.ConditionStatus, c randfill.Continue) {
			*s = pick(c, "", corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)
		},
		func(p *corev1.ContainerRestartPolicy, c randfill.Continue) {
			*p = pick(c, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicy("Never"))
		},
		func(t *batchv1.JobConditionType, c randfill.Continue) {
			*t = pick(c, batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuspended, batchv1.JobFailureTarget)
		},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			c.FillNoCustom(m)
			m.ResourceVersion = pick(c, "", "17", "18446744073709551615", "x", "-3")
			m.Annotations = someAnnotations(c)
			if c.Bool() {
				m.Finalizers = append(m.Finalizers, job.Finalizer)
			}
		},
	).Fill(object)
}

func pick[T any](c randfill.Continue, of ...T) T { return of[c.Intn(len(of))] }

// someTime returns the zero time, or a whole second between the years 1970 and 9999.
func someTime(c randfill.Continue) metav1.Time {
	if c.Intn(4) == 0 {
		return metav1.Time{}
	}
	return metav1.Unix(c.Int63n(253402300799), 0)
}

func someAnnotations(c randfill.Continue) map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation, batchv1.JobIndexIgnoredFailureCountAnnotation,
		batchv1.CronJobScheduledTimestampAnnotation, "cronjob.kubernetes.io/instantiate",
	} {
		if c.Bool() {
			out[name] = pick(c, "", "0", "7", "+7", "007", "-1", "4294967296", "x", "manual", "backfill",
				"2026-03-04T05:06:00Z", "2026-03-04T05:06:00+01:00", "2026-03-04")
		}
	}
	return out
}

// seeds adds a hundred inputs to a fuzz target, so that plain `go test` compares objects.
func seeds(f *testing.F) {
	random := rand.New(rand.NewPCG(1, uint64(len(f.Name()))))
	for range 100 {
		var data bytes.Buffer
		for range 200 + random.IntN(2000) {
			_ = binary.Write(&data, binary.LittleEndian, random.Uint64()) // never fails
		}
		f.Add(data.Bytes())
	}
}

func at(minute int) time.Time { return time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC) }
