// Package convert turns the objects of Kubernetes into the values of the planners,
// and the planners' statuses and creations back into objects. It needs k8s.io/api and
// k8s.io/apimachinery, and no client.
//
// [Job], [Pod], [CronJob] and [Child] give the same values as the JSON decoders of packages job and
// cronjob do for the JSON of the object, except that times keep their fraction of a second. None of
// them can fail. The comment of each function states how it reads values that the decoders refuse.
//
// A value shares strings, pointers and maps with the object that it was made from, which may be in
// an informer's cache. So do not change either.
//
// [PodCache] converts each version of a pod once.
package convert
