package validation

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // conversions and defaults
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	cronjobregistry "k8s.io/kubernetes/pkg/registry/batch/cronjob"
	jobregistry "k8s.io/kubernetes/pkg/registry/batch/job"
)

// The server's code would log differences between its declarative and its other rules.
func init() { klog.SetLogger(logr.Discard()) }

// refusal is one problem that a side finds in a manifest.
type refusal struct {
	// field is the path of the field, and rule describes what is wrong with it.
	field, rule string
}

// theirJob gives the manifest of a new job to the API server's code.
func theirJob(manifest []byte) []refusal {
	return created[*batch.Job](request("jobs"), jobregistry.Strategy, manifest)
}

func theirCronJob(manifest []byte) []refusal {
	return created[*batch.CronJob](request("cronjobs"), cronjobregistry.Strategy, manifest)
}

// theirTransition gives the API server's code two manifests of one job, which differ in their
// statuses.
func theirTransition(old, next []byte) []refusal {
	return changed[*batch.Job](request("jobs"), jobregistry.StatusStrategy, old, next)
}

// theirUpdate gives the API server's code the manifests of a job before and after a change.
func theirUpdate(old, next []byte) []refusal {
	return changed[*batch.Job](request("jobs"), jobregistry.Strategy, old, next)
}

func theirCronUpdate(old, next []byte) []refusal {
	return changed[*batch.CronJob](request("cronjobs"), cronjobregistry.Strategy, old, next)
}

// request returns the context of a request for a resource, for the rules that read it.
func request(resource string) context.Context {
	info := &genericrequest.RequestInfo{APIGroup: "batch", APIVersion: "v1", Resource: resource}
	return genericrequest.WithRequestInfo(context.Background(), info)
}

// created returns why a strategy of the API server refuses a new object.
func created[T runtime.Object](ctx context.Context, strategy rest.RESTCreateStrategy, manifest []byte) []refusal {
	return guarded(func() ([]refusal, error) {
		obj, err := decode[T](manifest)
		if err != nil {
			return nil, err
		}
		strategy.PrepareForCreate(ctx, obj)
		return refusals(askCreate(ctx, obj, strategy)), nil
	})
}

// changed returns why a strategy of the API server refuses an update. old and next are the object
// before and after the update.
func changed[T runtime.Object](ctx context.Context, strategy rest.RESTUpdateStrategy, old, next []byte) []refusal {
	return guarded(func() ([]refusal, error) {
		was, err := decode[T](old)
		if err != nil {
			return nil, err
		}
		is, err := decode[T](next)
		if err != nil {
			return nil, err
		}
		strategy.PrepareForUpdate(ctx, is, was)
		return refusals(askUpdate(ctx, is, was, strategy)), nil
	})
}

// decode decodes a manifest and sets its defaults.
func decode[T runtime.Object](manifest []byte) (obj T, err error) {
	out, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), manifest)
	if err != nil {
		return obj, err
	}
	obj, ok := out.(T)
	if !ok {
		return obj, fmt.Errorf("the manifest is a %T", out)
	}
	return obj, nil
}

// guarded turns decoding errors and panics into refusals. The API server's code panics for an
// Indexed job that has a successPolicy and no completions.
func guarded(ask func() ([]refusal, error)) (all []refusal) {
	defer func() {
		if r := recover(); r != nil {
			all = []refusal{{rule: fmt.Sprint("panic: ", r)}}
		}
	}()
	all, err := ask()
	if err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	return all
}

func refusals(list field.ErrorList) (all []refusal) {
	for _, e := range list {
		all = append(all, refusal{field: e.Field, rule: string(e.Type) + ": " + e.Detail})
	}
	return all
}
