package blackbox

import (
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtins are the built-in kinds that operators use.
var builtins = []Resource{
	Jobs(), Pods(), CronJobs(),
	builtin(corev1.SchemeGroupVersion, "services", corev1.Service{}),
	builtin(corev1.SchemeGroupVersion, "configmaps", corev1.ConfigMap{}),
	builtin(corev1.SchemeGroupVersion, "secrets", corev1.Secret{}),
	builtin(corev1.SchemeGroupVersion, "serviceaccounts", corev1.ServiceAccount{}),
	builtin(corev1.SchemeGroupVersion, "persistentvolumeclaims", corev1.PersistentVolumeClaim{}),
	builtin(corev1.SchemeGroupVersion, "endpoints", corev1.Endpoints{}), //nolint:staticcheck // operators still use it
	clusterScoped(builtin(corev1.SchemeGroupVersion, "nodes", corev1.Node{})),
	clusterScoped(builtin(corev1.SchemeGroupVersion, "namespaces", corev1.Namespace{})),
	builtin(discoveryv1.SchemeGroupVersion, "endpointslices", discoveryv1.EndpointSlice{}),
	builtin(appsv1.SchemeGroupVersion, "deployments", appsv1.Deployment{}),
	builtin(appsv1.SchemeGroupVersion, "statefulsets", appsv1.StatefulSet{}),
	builtin(appsv1.SchemeGroupVersion, "replicasets", appsv1.ReplicaSet{}),
	builtin(appsv1.SchemeGroupVersion, "daemonsets", appsv1.DaemonSet{}),
	builtin(appsv1.SchemeGroupVersion, "controllerrevisions", appsv1.ControllerRevision{}),
	builtin(networkingv1.SchemeGroupVersion, "ingresses", networkingv1.Ingress{}),
	builtin(networkingv1.SchemeGroupVersion, "networkpolicies", networkingv1.NetworkPolicy{}),
	builtin(policyv1.SchemeGroupVersion, "poddisruptionbudgets", policyv1.PodDisruptionBudget{}),
	builtin(autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers", autoscalingv2.HorizontalPodAutoscaler{}),
	builtin(rbacv1.SchemeGroupVersion, "roles", rbacv1.Role{}),
	builtin(rbacv1.SchemeGroupVersion, "rolebindings", rbacv1.RoleBinding{}),
	clusterScoped(builtin(rbacv1.SchemeGroupVersion, "clusterroles", rbacv1.ClusterRole{})),
	clusterScoped(builtin(rbacv1.SchemeGroupVersion, "clusterrolebindings", rbacv1.ClusterRoleBinding{})),
	clusterScoped(builtin(schedulingv1.SchemeGroupVersion, "priorityclasses", schedulingv1.PriorityClass{})),
	clusterScoped(builtin(storagev1.SchemeGroupVersion, "storageclasses", storagev1.StorageClass{})),
}

// builtin returns the resource of a Go type. It has a status subresource if the type has a field Status.
func builtin(version schema.GroupVersion, plural string, of any) Resource {
	t := reflect.TypeOf(of)
	_, status := t.FieldByName("Status")
	return Resource{
		GroupVersionKind: version.WithKind(t.Name()),
		Plural:           plural,
		Status:           status,
		Default:          defaultReplicas,
		Type:             func() any { return of },
	}
}

func clusterScoped(r Resource) Resource {
	r.ClusterScoped = true
	return r
}

// defaultReplicas gives a workload one replica if its spec has no number.
func defaultReplicas(o Object) {
	isWorkload := o.Text("kind") == "Deployment" || o.Text("kind") == "StatefulSet" || o.Text("kind") == "ReplicaSet"
	if isWorkload && o.Get("spec", "replicas") == nil {
		o.Set(1.0, "spec", "replicas")
	}
}

// workload describes Deployments, StatefulSets, ReplicaSets and DaemonSets: all their pods become ready.
var workload = ChildKind{
	Begin: func(o Object) {
		replicas, has := o.Get("spec", "replicas").(float64)
		if !has {
			replicas = 1
		}
		fields := "replicas readyReplicas updatedReplicas availableReplicas currentReplicas"
		if o.Text("kind") == "DaemonSet" {
			fields = "desiredNumberScheduled currentNumberScheduled numberReady updatedNumberScheduled numberAvailable"
		}
		for _, field := range strings.Fields(fields) {
			o.Set(replicas, "status", field)
		}
		o.Set(o.Get("metadata", "generation"), "status", "observedGeneration")
		if o.Text("kind") == "Deployment" {
			setCondition(o, "Available", "True", "MinimumReplicasAvailable")
		}
	},
	Runs: func(o Object) bool {
		return o.Get("status", "observedGeneration") == o.Get("metadata", "generation")
	},
	Ended: func(Object) bool { return false },
}
