import type { ModelRequest } from '@eyrie/element'
import type {
  DetectorObserver,
  InferenceClient,
  ObservedDetection,
} from '../inference/inference-client.ts'
import { VersionHealth } from '../upgrade/version-health.ts'

/** A detector that an element has opened on a channel: a model that finds objects in frames. */
export interface OpenDetector {
  readonly request: ModelRequest
  readonly client: InferenceClient
}

/** Listens to the detectors that the elements open for one model. */
export interface DetectorListener {
  onOpen(detector: OpenDetector): void
  onDetection(detector: OpenDetector, detection: ObservedDetection): void
  onFailure(detector: OpenDetector, reason: string): void
  onClose(detector: OpenDetector): void
}

/**
 * A failed element opens its detector again within half of this time. If it does not, its channel
 * has ended.
 */
const REOPEN_LIMIT_MS = 60_000

/** The outages of one model on a channel. */
interface Outages {
  /** The versions that have failed and not run since. */
  versions: Set<string>
  /** Runs while the detector is closed. Ends the outages if it is not opened again. */
  timer?: NodeJS.Timeout
}

/**
 * Observes the detectors of all channels. Another model can run in place of the one that a
 * pipeline names. Therefore, `model` is the name in the pipeline here, and `version` is the name
 * of the model that runs.
 */
export class DetectorMonitor {
  /** How much each model has failed, by name and version. */
  readonly health = new VersionHealth()
  /** Called after each failure. */
  onFailure: (model: string) => void = () => {}
  readonly #detectors = new Set<OpenDetector>()
  /** The listener of each model. */
  readonly #listeners = new Map<string, DetectorListener>()
  /** By model and channel, as formatted by `#findOutages`. */
  readonly #outages = new Map<string, Outages>()

  /** Returns the observer that a detector reports to. Called when an element opens the detector. */
  observe(request: ModelRequest, client: InferenceClient): DetectorObserver {
    const { model } = request
    const { channel } = client
    const detector = { request, client }
    const outages = this.#findOutages(model, channel)
    clearTimeout(outages.timer)
    this.#detectors.add(detector)
    this.#listeners.get(model)?.onOpen(detector)

    const recordHealth = (version: string, failure: string | undefined) =>
      this.health.record({ name: model, version, channel, element: 'detector', failure })
    const endOutages = () => {
      for (const version of outages.versions) recordHealth(version, undefined)
      outages.versions.clear()
    }

    return {
      onDetection: detection => {
        endOutages()
        this.#listeners.get(model)?.onDetection(detector, detection)
      },
      onFailure: (version, reason) => {
        outages.versions.add(version)
        recordHealth(version, reason)
        this.#listeners.get(model)?.onFailure(detector, reason)
        this.onFailure(model)
      },
      onClose: () => {
        clearTimeout(outages.timer)
        if (outages.versions.size > 0) {
          outages.timer = setTimeout(endOutages, REOPEN_LIMIT_MS).unref()
        }
        this.#detectors.delete(detector)
        this.#listeners.get(model)?.onClose(detector)
      },
    }
  }

  /**
   * Listens to the detectors of a model that are open now or opened later, until the
   * returned function is called.
   */
  listen(model: string, listener: DetectorListener): () => void {
    this.#listeners.set(model, listener)
    for (const detector of this.#detectors) {
      if (detector.request.model === model) listener.onOpen(detector)
    }
    return () => {
      if (this.#listeners.get(model) === listener) this.#listeners.delete(model)
    }
  }

  #findOutages(model: string, channel: number): Outages {
    const key = `${model} ${channel}`
    const outages = this.#outages.get(key) ?? { versions: new Set() }
    this.#outages.set(key, outages)
    return outages
  }
}
