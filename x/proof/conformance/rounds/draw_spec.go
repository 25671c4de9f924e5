package rounds

import (
	"fmt"
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/specgen"
)

// labelKey and labelValue are the label that the job's selector requires.
const (
	labelKey   = "job"
	labelValue = "work"
)

// spec draws a valid spec over the whole space of features, with the defaults that a controller
// needs.
func (d *draw) spec(crowd int) batchv1.JobSpec {
	g := specgen.Generator{Source: d, Range: specgen.Wild, Statuses: true}
	s := specgen.Decode[batchv1.JobSpec](g.Job())
	if s.Parallelism == nil {
		s.Parallelism = pointer[int32](1)
	}
	if s.BackoffLimit == nil {
		s.BackoffLimit = pointer[int32](6)
	}

	if s.BackoffLimitPerIndex != nil && d.chance(60) {
		s.BackoffLimit = pointer[int32](math.MaxInt32) // otherwise most failures end the job, not the index
	}
	if s.PodFailurePolicy != nil {
		s.PodReplacementPolicy = pointer(batchv1.Failed)
	}

	if crowd > 0 {
		s.Parallelism = pointer(int32(pick(d, crowd, crowd, crowd/2, 10)))
		s.Completions = pointer(int32(crowd + d.IntN(100)))
	}

	s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{labelKey: labelValue}}
	s.Template.Labels = map[string]string{labelKey: labelValue}
	if d.chance(10) {
		s.Template.Annotations = map[string]string{"a": "1"}
		s.Template.Finalizers = []string{"example.com/other"}
	}
	return s
}

// indexes draws a list of indexes in the form of the status; a few are corrupt.
func (d *draw) indexes(below, percent int) string {
	if d.chance(2) {
		return pick(d, "0-", "x", "3-1", "2,0", "-1", "0,0", "1-1", "0,1,2", "0-1", ",")
	}
	var parts []string
	for i := 0; i < below; i++ {
		if !d.chance(percent) {
			continue
		}
		last := i
		for last+1 < below && d.chance(percent) {
			last++
		}
		switch {
		case last == i:
			parts = append(parts, fmt.Sprint(i))
		case last == i+1:
			parts = append(parts, fmt.Sprint(i), fmt.Sprint(last))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", i, last))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

func pointer[T any](v T) *T { return &v }
