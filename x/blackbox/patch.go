package blackbox

import (
	"encoding/json"
	"net/http"

	jsonpatch "github.com/evanphx/json-patch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"
)

// managed names what a field manager has applied: fields of an object, or of its status.
type managed struct{ uid, manager, sub string }

// serverApply carries out a server-side apply, which never conflicts with other managers. Fields
// that the manager has applied before and leaves out now are removed.
func (a *server) serverApply(t *target, manager string, body []byte) (entry, error) {
	config, err := yaml.YAMLToJSON(body)
	if err != nil {
		return entry{}, fail(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	next, err := decodeObject(config)
	if err != nil {
		return entry{}, fail(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}

	var e entry
	old, exists := a.objects[t.key()]
	switch {
	case exists:
		version := next.Text("metadata", "resourceVersion")
		if next, err = a.merged(t, old, manager, config); err == nil {
			next.Set(version, "metadata", "resourceVersion")
			e, err = a.update(t.resource, t.key(), next, t.sub, "apply", true)
		}
	case t.sub != "":
		err = notFound(t.key())
	default:
		next.Set(t.name, "metadata", "name")
		e, err = a.create(t.resource, t.namespace, next, true)
	}

	if err == nil {
		a.applied[managed{e.object.UID(), manager, t.sub}] = config
	}
	return e, err
}

// merged returns an object after an apply: a three-way merge with what the manager applied last.
func (a *server) merged(t *target, old entry, manager string, config []byte) (Object, error) {
	last := a.applied[managed{old.object.UID(), manager, t.sub}]
	var data []byte
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, config, old.data)
	if err == nil && t.resource.Type == nil {
		data, err = jsonpatch.MergePatch(old.data, patch)
	}

	if t.resource.Type != nil {
		var schema strategicpatch.LookupPatchMeta
		if schema, err = strategicpatch.NewPatchMetaFromStruct(t.resource.Type()); err != nil {
			return nil, err
		}
		patch, err = strategicpatch.CreateThreeWayMergePatch(last, config, old.data, schema, true)
		if err == nil {
			data, err = strategicpatch.StrategicMergePatchUsingLookupPatchMeta(old.data, patch, schema)
		}
	}
	if err != nil {
		return nil, fail(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "apply: %v", err)
	}
	return decodeObject(data)
}

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
