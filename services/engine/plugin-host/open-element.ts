import type { ViewSpec } from '@eyrie/contract/view'
import type { Element, ElementContext, Inference, Log, PictureSize } from '@eyrie/element'
import type { RingPlace } from '../frames/ring-reader.ts'
import type { KnownElement } from './known-plugin.ts'
import { loadElement } from './load-element.ts'
import { measured } from './measured-element.ts'
import { openInWorker } from './worker-element.ts'

/** What the elements before it and the channel give an element that is opened. */
export interface Opening {
  size: PictureSize | undefined
  ringOf(view: ViewSpec): RingPlace | undefined
}

export interface OpenRequest extends Opening {
  args: unknown
  config: unknown
  source: number
  /** Handed to elements whose manifest needs it. */
  inference: Inference
  /** Told how much CPU time each frame has taken, in ms. */
  onCost(ms: number): void
  log: Log
}

/** Opens an element for a channel where its manifest wants it to run. Throws what is wrong with args, config or element. */
export async function openElement(known: KnownElement, request: OpenRequest): Promise<Element> {
  const { entry, manifest } = known
  const { size, ringOf, inference, onCost, log } = request
  const setup = {
    args: accept('args', known.checkArgs(request.args ?? {})),
    config: request.config === undefined ? undefined : accept('config', known.checkConfig(request.config)),
    source: { id: request.source },
    size,
  }
  if (!known.inline) {
    const pixels = manifest.needs.includes('pixels')
    return openInWorker({ data: { entry, name: manifest.name, setup }, pixels, ringOf, onCost, log })
  }
  const definition = await loadElement(entry, manifest.name)
  const granted: ElementContext<unknown, unknown> = {
    ...setup,
    inference: manifest.needs.includes('inference') ? inference : undefined,
    log,
  }
  return measured(await definition.open(granted), onCost)
}

function accept(part: string, { value, problem }: ReturnType<KnownElement['checkArgs']>): unknown {
  if (problem) throw new Error(`/${part}${problem.pointer} ${problem.message}`)
  return value
}
