import type { ViewSpec } from '@eyrie/contract/view'
import type { Element, ElementContext, Inference, Log, PictureSize } from '@eyrie/element'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { KnownElement } from './known-plugin.ts'
import { loadElement } from './load-element.ts'
import { measureElement } from './measured-element.ts'
import { openElementThread } from './worker-element.ts'

/** The surroundings of an element in its channel. */
export interface OpenContext {
  /** Picture size requested by an earlier element. */
  size: PictureSize | undefined
  findRing(view: ViewSpec): RingLocation | undefined
}

export interface OpenRequest extends OpenContext {
  args: unknown
  config: unknown
  source: number
  /** Passed only to elements whose manifest needs it. */
  inference: Inference
  /** Receives the CPU time of frames, in ms. */
  onCost(ms: number): void
  log: Log
}

/** Opens an element inline or in a thread, as its manifest requires. Throws if `args` or `config` are invalid. */
export async function openElement(known: KnownElement, request: OpenRequest): Promise<Element> {
  const { entry, manifest } = known
  const { size, findRing, inference, onCost, log } = request
  const setup = {
    args: unwrap('args', known.checkArgs(request.args ?? {})),
    config: request.config === undefined ? undefined : unwrap('config', known.checkConfig(request.config)),
    source: { id: request.source },
    size,
  }
  if (!known.isInline) {
    const pixels = manifest.needs.includes('pixels')
    return openElementThread({ data: { entry, name: manifest.name, setup }, pixels, findRing, onCost, log })
  }
  const definition = await loadElement(entry, manifest.name)
  const fullSetup: ElementContext<unknown, unknown> = {
    ...setup,
    inference: manifest.needs.includes('inference') ? inference : undefined,
    log,
  }
  return measureElement(await definition.open(fullSetup), onCost)
}

function unwrap(part: 'args' | 'config', { value, problem }: ReturnType<KnownElement['checkArgs']>): unknown {
  if (problem) throw new Error(`/${part}${problem.pointer} ${problem.message}`)
  return value
}
