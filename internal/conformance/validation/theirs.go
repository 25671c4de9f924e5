package validation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // conversions and defaults
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	cronjobregistry "k8s.io/kubernetes/pkg/registry/batch/cronjob"
	jobregistry "k8s.io/kubernetes/pkg/registry/batch/job"
)

// refusal is one problem that a side finds in a manifest.
type refusal struct {
	// field is the path of the field, rule what is wrong with it.
	field, rule string
}

// theirJob gives the manifest of a new job to the API server's code.
func theirJob(manifest []byte) []refusal {
	return guarded(func() ([]refusal, error) {
		obj, err := decode[*batch.Job](manifest)
		if err != nil {
			return nil, err
		}
		ctx := context.Background()
		jobregistry.Strategy.PrepareForCreate(ctx, obj)
		return refusals(jobregistry.Strategy.Validate(ctx, obj)), nil
	})
}

// theirCronJob gives the manifest of a new CronJob to the API server's code.
func theirCronJob(manifest []byte) []refusal {
	return guarded(func() ([]refusal, error) {
		obj, err := decode[*batch.CronJob](manifest)
		if err != nil {
			return nil, err
		}
		ctx := genericrequest.WithRequestInfo(context.Background(), &genericrequest.RequestInfo{APIGroup: "batch", APIVersion: "v1", Resource: "cronjobs"})
		cronjobregistry.Strategy.PrepareForCreate(ctx, obj)
		return refusals(cronjobregistry.Strategy.Validate(ctx, obj)), nil
	})
}

// theirTransition gives two manifests of one job, which differ in their statuses, to the
// API server's code.
func theirTransition(old, next []byte) []refusal {
	return guarded(func() ([]refusal, error) {
		was, err := decode[*batch.Job](old)
		if err != nil {
			return nil, err
		}
		is, err := decode[*batch.Job](next)
		if err != nil {
			return nil, err
		}
		ctx := context.Background()
		jobregistry.StatusStrategy.PrepareForUpdate(ctx, is, was)
		return refusals(jobregistry.StatusStrategy.ValidateUpdate(ctx, is, was)), nil
	})
}

// decode reads a manifest with its defaults.
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

// guarded takes what does not decode, and a panic, for a refusal. The code panics on an
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
