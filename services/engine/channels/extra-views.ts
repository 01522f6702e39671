import type { ViewSpec } from '@eyrie/contract/view'
import { removeDuplicateViews } from '../frames/views.ts'
import type { ViewRequest } from '../inference/inference-client.ts'
import type { FrameFeed } from '../media/frame-feed.ts'

/** The views of a channel that none of its elements reads, such as that of a model in shadow. */
export class ExtraViews {
  readonly #findFeed: () => FrameFeed | undefined
  readonly #requests = new Set<{ view: ViewSpec; isAwaited: boolean }>()

  /** `findFeed` returns the present feed of the channel; undefined if it has none. */
  constructor(findFeed: () => FrameFeed | undefined) {
    this.#findFeed = findFeed
  }

  /** Requests the pictures of a view. */
  request(view: ViewSpec): ViewRequest {
    const request = { view, isAwaited: false }
    this.#requests.add(request)
    this.apply()
    return {
      newest: () => this.#findFeed()?.newestInView(view) ?? 0,
      awaitPictures: () => {
        request.isAwaited = true
        this.apply()
      },
      end: () => {
        this.#requests.delete(request)
        this.apply()
      },
    }
  }

  /** Must be called when the channel continues with another feed. */
  apply(): void {
    const requests = [...this.#requests]
    const awaited = requests.filter(({ isAwaited }) => isAwaited)
    this.#findFeed()?.setExtraViews(toViews(requests), toViews(awaited))
  }
}

const toViews = (requests: readonly { view: ViewSpec }[]) =>
  removeDuplicateViews(requests.map(({ view }) => view))
