// Stands in for libavfilter in the image of media. One element of GStreamer uses it, avdeinterlace,
// which Eyrie does not; the library would bring 80 MB with it, among them voices for synthetic
// speech. The element fails to start.

void *avfilter_graph_alloc(void) { return 0; }
void avfilter_graph_free(void **graph) { (void)graph; }
int avfilter_graph_config(void *graph, void *context) { return (void)graph, (void)context, -1; }
void *avfilter_graph_get_filter(void *graph, const char *name) {
  return (void)graph, (void)name, (void *)0;
}
int avfilter_graph_parse2(void *graph, const char *filters, void **inputs, void **outputs) {
  return (void)graph, (void)filters, (void)inputs, (void)outputs, -1;
}
int av_buffersrc_add_frame(void *context, void *frame) { return (void)context, (void)frame, -1; }
int av_buffersink_get_frame(void *context, void *frame) { return (void)context, (void)frame, -1; }
