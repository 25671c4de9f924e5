package job

import "strconv"

// What a pod keeps in annotations: its completion index, and how often pods of the index
// have failed before it: the failures that count, and those that the podFailurePolicy has
// ignored.
const (
	indexAnnotation        = "batch.kubernetes.io/job-completion-index"
	failuresAnnotation     = "batch.kubernetes.io/job-index-failure-count"
	ignoredFailsAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count"
)

// IndexPath is the field of the pod that the variable [IndexVariable] takes its value from.
func (c *Creation) IndexPath() string {
	if c.Unlabeled {
		return "metadata.annotations['" + indexAnnotation + "']"
	}
	return "metadata.labels['" + IndexLabel + "']"
}

// Labels returns the labels that the pod gets besides the template's; nil
// for a NonIndexed job.
func (c *Creation) Labels() map[string]string {
	if c.Index.Int32() < 0 || c.Unlabeled {
		return nil
	}
	return map[string]string{IndexLabel: c.Index.String()}
}

// Annotations returns the annotations that the pod gets besides the
// template's; nil for a NonIndexed job. [Pod.ReadAnnotations] reads them back.
func (c *Creation) Annotations() map[string]string {
	if c.Index.Int32() < 0 {
		return nil
	}

	out := map[string]string{indexAnnotation: c.Index.String()}
	if c.PerIndex {
		out[failuresAnnotation] = strconv.Itoa(int(c.FailureCount))
		if c.IgnoredFailureCount > 0 {
			out[ignoredFailsAnnotation] = strconv.Itoa(int(c.IgnoredFailureCount))
		}
	}
	return out
}

// ReadAnnotations sets what the annotations of a pod hold: Index, and FailureCount and
// IgnoredFailureCount of the Detail. What is missing, negative or not a number reads as
// NoIndex (J13) and as no failures (J18). A Detail that changes is a new one: a copy of the pod
// may have the old.
func (p *Pod) ReadAnnotations(annotations map[string]string) {
	p.Index = parseIndex(annotations[indexAnnotation])

	failures := parseCount(annotations[failuresAnnotation])
	ignored := parseCount(annotations[ignoredFailsAnnotation])
	old := p.detail()
	if old.FailureCount == failures && old.IgnoredFailureCount == ignored {
		return
	}

	changed := *old
	changed.FailureCount, changed.IgnoredFailureCount = failures, ignored
	p.Detail = &changed
}

// parseIndex reads an index: NoIndex when the text is empty, negative, out of range or not
// a number (J13).
func parseIndex(text string) Index {
	if text == "" {
		return NoIndex() // without the error that parsing would allocate
	}

	i, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return NoIndex()
	}
	return IndexAt(int32(i))
}

// parseCount reads a failure count; anything but a count reads as 0 (J18).
func parseCount(text string) int32 { return max(parseIndex(text).Int32(), 0) }
