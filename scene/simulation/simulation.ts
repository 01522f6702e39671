import { Traffic } from '../cars/traffic.ts'
import type { Random } from '../maths/random.ts'
import { Walkers } from '../people/walkers.ts'
import { getSignalPhase, type SignalPhase } from '../street/crossing.ts'
import type { Layout } from '../street/layout.ts'
import type { Obstacle } from '../street/site.ts'

/** Simulated time before frame 0, in which people and cars spread over the street. */
const WARM_UP_S = 14
/**
 * Time in the cycle of the traffic light at frame 0: people have entered the picture, and
 * cars have a green light.
 */
const START_S = 17

/**
 * Simulates people, cars and the traffic light. One step is one frame. The result is
 * deterministic for a seed.
 */
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
