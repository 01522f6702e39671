import type { ModelRequest } from '@eyrie/element'
import type { DetectorObserver, InferenceClient, ObservedDetection } from '../inference/inference-client.ts'
import { VersionHealth } from '../upgrade/version-health.ts'

/** A detector that an element has opened on a channel. */
export interface OpenDetector {
  readonly request: ModelRequest
  readonly client: InferenceClient
}

/** Reads along with the detectors of a model. */
export interface DetectorReader {
  onOpen(detector: OpenDetector): void
  onDetection(detector: OpenDetector, detection: ObservedDetection): void
  onFailure(detector: OpenDetector, reason: string): void
  onClose(detector: OpenDetector): void
}

/** A failed element opens its detector again within half of this time, unless its channel has ended. */
const REOPEN_LIMIT_MS = 60_000

/** The models that have failed on a channel, and have not run since. */
interface Outages {
  models: Set<string>
  /** Ends the outages if no detector is opened again. */
  timer?: NodeJS.Timeout
}

/** The open detectors of all channels, by the model that their elements name, and how much each model has failed. */
export class DetectorMonitor {
  /** The failures of models, by the name in the pipelines: `version` is the model that ran. */
  readonly health = new VersionHealth()
  /** Called after a failure with the name of the model in the pipelines. */
  onFailure: (model: string) => void = () => {}
  readonly #detectors = new Set<OpenDetector>()
  readonly #readers = new Map<string, DetectorReader>()
  /** By model and channel. */
  readonly #outages = new Map<string, Outages>()

  /** Returns the observer of a detector that an element opens. */
  observe(request: ModelRequest, client: InferenceClient): DetectorObserver {
    const { model } = request
    const { channel } = client
    const detector = { request, client }
    const outages = this.#findOutages(model, channel)
    clearTimeout(outages.timer)
    this.#detectors.add(detector)
    this.#readers.get(model)?.onOpen(detector)

    const endOutages = () => {
      for (const version of outages.models)
        this.health.record({ name: model, version, channel, element: 'detector', failure: undefined })
      outages.models.clear()
    }

    return {
      onDetection: detection => {
        if (outages.models.size > 0) endOutages()
        this.#readers.get(model)?.onDetection(detector, detection)
      },
      onFailure: (version, reason) => {
        outages.models.add(version)
        this.health.record({ name: model, version, channel, element: 'detector', failure: reason })
        this.#readers.get(model)?.onFailure(detector, reason)
        this.onFailure(model)
      },
      onClose: () => {
        clearTimeout(outages.timer)
        if (outages.models.size > 0) outages.timer = setTimeout(endOutages, REOPEN_LIMIT_MS).unref()
        this.#detectors.delete(detector)
        this.#readers.get(model)?.onClose(detector)
      },
    }
  }

  /** Reads along with the present and later detectors of a model, until the returned function is called. */
  read(model: string, reader: DetectorReader): () => void {
    this.#readers.set(model, reader)
    for (const detector of this.#detectors) if (detector.request.model === model) reader.onOpen(detector)
    return () => {
      if (this.#readers.get(model) === reader) this.#readers.delete(model)
    }
  }

  #findOutages(model: string, channel: number): Outages {
    const key = `${model} ${channel}`
    const outages = this.#outages.get(key) ?? { models: new Set() }
    this.#outages.set(key, outages)
    return outages
  }
}
