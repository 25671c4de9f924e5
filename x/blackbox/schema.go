package blackbox

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// structure is the schema of a kind and its validator.
type structure struct {
	schema    *spec.Schema
	validator *validate.SchemaValidator
}

// definition is the part of a CustomResourceDefinition that is read.
type definition struct {
	metav1.TypeMeta `json:",inline"`
	Spec            struct {
		Group string
		Scope string
		Names struct{ Kind, Plural string }

		Versions []struct {
			Name    string
			Storage bool
			Schema  struct {
				OpenAPIV3Schema *spec.Schema `json:"openAPIV3Schema"`
			}
			Subresources struct{ Status *struct{} }
		}
	}
}

// FromCRD returns the resource that a CustomResourceDefinition of apiextensions.k8s.io/v1 defines, in
// its stored version. The definition is YAML or JSON, one document. The API treats objects of the kind
// by its schema: it drops fields that the schema does not have, fills in defaults, and refuses invalid
// objects. [Resource.Default] comes after the defaults, and [Resource.Admit] after the schema. Rules
// in CEL and the uniqueness of lists are not checked; Admit can check them.
func FromCRD(data []byte) (Resource, error) {
	var d definition
	if err := yaml.Unmarshal(data, &d); err != nil {
		return Resource{}, fmt.Errorf("CustomResourceDefinition: %w", err)
	}
	if d.Kind != "CustomResourceDefinition" || d.APIVersion != "apiextensions.k8s.io/v1" {
		return Resource{}, fmt.Errorf("%s of %q: want a CustomResourceDefinition of apiextensions.k8s.io/v1",
			d.Kind, d.APIVersion)
	}

	for _, v := range d.Spec.Versions {
		if !v.Storage {
			continue
		}
		r := Resource{
			GroupVersionKind: schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind},
			Plural:           d.Spec.Names.Plural,
			ClusterScoped:    d.Spec.Scope == "Cluster",
			Status:           v.Subresources.Status != nil,
		}

		s := v.Schema.OpenAPIV3Schema
		if s == nil {
			return Resource{}, fmt.Errorf("CustomResourceDefinition of %s: version %s: schema: is required",
				r.Kind, v.Name)
		}

		eachSchema(s, allowIntOrString)
		r.structure = &structure{s, validate.NewSchemaValidator(s, nil, "", strfmt.Default)}
		return r, nil
	}
	return Resource{}, errors.New("CustomResourceDefinition: no version is stored")
}

// eachSchema calls do with a schema and the schemas that it contains.
func eachSchema(s *spec.Schema, do func(*spec.Schema)) {
	do(s)
	for name, property := range s.Properties {
		eachSchema(&property, do)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		eachSchema(s.Items.Schema, do)
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		eachSchema(more.Schema, do)
	}
}

// allowIntOrString adds the types of a field that is an integer or a string, since schemas leave them out.
func allowIntOrString(s *spec.Schema) {
	if is(s, "x-kubernetes-int-or-string") && len(s.Type) == 0 && len(s.AnyOf) == 0 {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
}

func is(s *spec.Schema, extension string) bool {
	set, _ := s.Extensions.GetBool(extension)
	return set
}

// ofEveryObject are the fields that every object has, even if its schema lacks them.
var ofEveryObject = []string{"apiVersion", "kind", "metadata"}

// shape drops the unknown fields of a value and fills in defaults. The argument whole means that
// the value is an object of the API.
func shape(v any, s *spec.Schema, whole bool) {
	switch v := v.(type) {
	case map[string]any:
		shapeFields(v, s, whole || is(s, "x-kubernetes-embedded-resource"))
	case []any:
		if s.Items != nil && s.Items.Schema != nil {
			for _, item := range v {
				shape(item, s.Items.Schema, false)
			}
		}
	}
}

func shapeFields(fields map[string]any, s *spec.Schema, whole bool) {
	for name, property := range s.Properties {
		if _, has := fields[name]; !has && property.Default != nil {
			fields[name] = cloneValue(property.Default)
		}
	}

	for name, v := range fields {
		property, known := s.Properties[name]
		switch more := s.AdditionalProperties; {
		case whole && slices.Contains(ofEveryObject, name):
		case known:
			shape(v, &property, false)
		case more != nil && more.Schema != nil:
			shape(v, more.Schema, false)
		case !is(s, "x-kubernetes-preserve-unknown-fields") && (more == nil || !more.Allows):
			delete(fields, name)
		}
	}
}

// check returns the errors of an invalid object.
func (s *structure) check(o Object) error {
	return errors.Join(s.validator.Validate(map[string]any(o)).Errors...)
}
