import type { Element, Frame, FrameResult } from '@eyrie/element'
import type { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'
import { ShadowRunner } from '../upgrade/shadow-runner.ts'
import { parseFrameResult } from './frame-result.ts'

export interface ElementShadowOptions {
  /** Name of the plugin. */
  plugin: string
  open(): Promise<Element>
  tally: ShadowTally
}

/**
 * Another version of an element, which processes the same frames as the active one. Its
 * results are only compared.
 */
export class ElementShadow {
  readonly plugin: string
  readonly tally: ShadowTally
  readonly #runner: ShadowRunner<Element>

  constructor({ plugin, open, tally }: ElementShadowOptions) {
    this.plugin = plugin
    this.tally = tally
    this.#runner = new ShadowRunner({
      open,
      recorder: {
        recordSkipped: () => tally.recordSkipped(),
        recordFailure: reason => tally.shadow.recordFailure(reason),
        recordProblem: problem => {
          tally.problem = problem
        },
      },
    })
  }

  /** Processes a frame for which the active version has returned `active`. */
  offer(frame: Frame, active: FrameResult): void {
    this.#runner.offer(async element => {
      const result = parseFrameResult(await element.process(frame))
      return () => this.tally.recordFrame(frame.objects.length, active, result)
    })
  }

  close(): void {
    this.#runner.close()
  }
}
