package blackbox

import (
	"encoding/json"
	"net/http"

	jsonpatch "github.com/evanphx/json-patch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patched returns the object of a target after a patch.
func (a *server) patched(t *target, kind string, patch []byte) (Object, error) {
	old, exists := a.objects[t.key()]
	if !exists {
		return nil, notFound(t.key())
	}

	var data []byte
	var err error
	switch types.PatchType(kind) {
	case types.MergePatchType:
		data, err = jsonpatch.MergePatch(old.data, patch)
	case types.JSONPatchType:
		var steps jsonpatch.Patch
		if steps, err = jsonpatch.DecodePatch(patch); err == nil {
			data, err = steps.Apply(old.data)
		}
	case types.StrategicMergePatchType:
		if t.resource.Type == nil {
			return nil, fail(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
				"%s takes no strategic merge patch", t.resource.Plural)
		}
		data, err = strategicpatch.StrategicMergePatch(old.data, patch, t.resource.Type())
	default:
		return nil, fail(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"patches of type %q are not supported", kind)
	}

	if err != nil {
		return nil, fail(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "patch: %v", err)
	}

	next, err := decodeObject(data)
	if err != nil {
		return nil, err
	}

	// A patch without a version applies to any version.
	var named struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(patch, &named) != nil || named.Metadata.ResourceVersion == "" {
		next.Unset("metadata", "resourceVersion")
	}
	return next, nil
}
