import { computed, signal } from '@preact/signals'
import type { LiveView, LiveViewOpener, LiveViewOptions } from './live-view.ts'

/** Plays by the first of these ways that is able to. The last one is asked in any case: it says why there is no picture. */
export function openFirstAble(
  ways: readonly [LiveViewOpener, ...LiveViewOpener[]],
  options: Omit<LiveViewOptions, 'onUnable'>,
): LiveView {
  let closed = false
  let current = 0
  const view = signal(open(0))

  function open(index: number): LiveView {
    return ways[index]!({
      ...options,
      // A way may know at once that it is not able, before it has been returned.
      onUnable: () => queueMicrotask(() => goOn(index)),
    })
  }

  function goOn(index: number) {
    if (closed || index !== current || index === ways.length - 1) return
    view.value.close()
    view.value = open(++current)
  }

  return {
    state: computed(() => view.value.state.value),
    close() {
      closed = true
      view.value.close()
    },
  }
}
