package job

import "strconv"

// The annotations of a pod hold its completion index, and the numbers of earlier failures of that
// index: those that count, and those that the podFailurePolicy ignored.
const (
	indexAnnotation        = "batch.kubernetes.io/job-completion-index"
	failuresAnnotation     = "batch.kubernetes.io/job-index-failure-count"
	ignoredFailsAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count"
)

// IndexPath returns the path of the pod field from which the variable [IndexVariable] gets its
// value.
func (c *Creation) IndexPath() string {
	if c.Unlabeled {
		return "metadata.annotations['" + indexAnnotation + "']"
	}
	return "metadata.labels['" + IndexLabel + "']"
}

// Labels returns the labels that the pod gets besides the template's. They are nil for a NonIndexed
// job, and if Unlabeled is true.
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

// ReadAnnotations reads a pod's index and failure counts from its annotations. It sets Index, and
// FailureCount and IgnoredFailureCount of Detail. An annotation that is missing, negative or not a
// number gives NoIndex (J13) or no failures (J18). If the counts change, Detail is replaced and not
// written to, since copies of the pod may share it.
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

// parseIndex reads an index. It returns NoIndex if the text is empty, negative, out of range or not
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

// parseCount reads a failure count. Text that is not a count gives 0 (J18).
func parseCount(text string) int32 { return max(parseIndex(text).Int32(), 0) }
