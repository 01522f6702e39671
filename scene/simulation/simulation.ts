import { Traffic } from '../cars/traffic.ts'
import type { Random } from '../maths/random.ts'
import { Walkers } from '../people/walkers.ts'
import { getSignalPhase, type SignalPhase } from '../street/crossing.ts'
import type { Layout } from '../street/layout.ts'
import type { Obstacle } from '../street/site.ts'

const WARM_UP_S = 14
/** Position in the traffic light's cycle at frame 0: people have entered the picture, cars have green. */
const START_S = 17

/** Simulates everything that moves. One step is one frame. Deterministic for a given seed. */
export class Simulation {
  readonly walkers: Walkers
  readonly traffic: Traffic
  /** Number of the current frame. */
  frame = 0
  timeS = 0
  readonly #dt: number
  #lastTrack = 0

  constructor(layout: Layout, obstacles: readonly Obstacle[], random: Random, fps: number) {
    const nextTrack = (): number => ++this.#lastTrack
    this.#dt = 1 / fps
    this.walkers = new Walkers(layout, obstacles, random, nextTrack)
    this.traffic = new Traffic(layout, random, nextTrack)
    for (let i = 0; i < WARM_UP_S * fps; i++) this.step()
    this.timeS = START_S
    this.frame = 0
  }

  get phase(): SignalPhase {
    return getSignalPhase(this.timeS)
  }

  step(): void {
    this.timeS += this.#dt
    this.walkers.step(this.#dt, this.phase)
    this.traffic.step(this.#dt, this.phase, this.walkers.people)
    this.frame++
  }
}
