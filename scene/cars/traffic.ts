import { square } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { Walker } from '../people/walkers.ts'
import type { SignalPhase } from '../street/crossing.ts'
import type { Layout } from '../street/layout.ts'
import { type CarAppearance, createRandomCarAppearance } from './car-appearance.ts'

/** A moving or parked car. Lane 0 is near and leads to the right, lane 1 is far and leads to the left. Units: m, m/s. */
export interface Car {
  track: number
  appearance: CarAppearance
  lane: 0 | 1 | 'parked'
  x: number
  y: number
  hx: number
  hy: number
  speed: number
  /** Desired speed on a free road. */
  cruiseSpeed: number
  wheelAngle: number
  isBraking: boolean
}

const ACCELERATION_MPS2 = 1.8
const COMFORTABLE_BRAKING_MPS2 = 2.5
const WHEEL_RADIUS_M = 0.33

/** Simulates cars that follow each other according to the Intelligent Driver Model (Treiber et al. 2000) and stop at red. */
export class Traffic {
  cars: Car[] = []
  readonly #layout: Layout
  readonly #random: Random
  readonly #nextTrack: () => number
  readonly #secondsUntilArrival: [number, number]

  constructor(layout: Layout, random: Random, nextTrack: () => number) {
    this.#layout = layout
    this.#random = random
    this.#nextTrack = nextTrack
    this.#secondsUntilArrival = [random.between(0, 3), random.between(0, 3)]
    if (layout.bayDepth) this.#placeParkedCars()
  }

  /** Advances all cars by `dt` seconds. */
  step(dt: number, phase: SignalPhase, people: readonly Walker[]): void {
    for (const lane of [0, 1] as const) {
      const cars = this.cars.filter(car => car.lane === lane)
      this.#spawn(lane, cars, dt)
      for (const car of cars) this.#drive(car, cars, dt, phase, people)
    }
    this.cars = this.cars.filter(car => car.lane === 'parked' || Math.abs(car.x - 7) < 60)
  }

  #placeParkedCars(): void {
    const { crossingX, crossingHalfWidth, roadFar } = this.#layout
    const random = this.#random
    for (let place = -6; place < 9; place++) {
      const middle = crossingX + 5.4 * place + 2.7
      if (Math.abs(middle - crossingX) <= crossingHalfWidth + 4 || !random.chance(0.5)) continue
      const appearance = createRandomCarAppearance(random)
      if (appearance.length > 4.9) continue
      this.cars.push({
        track: this.#nextTrack(),
        appearance,
        lane: 'parked',
        x: middle + random.between(-0.15, 0.15),
        y: roadFar + 1.1 + random.between(-0.08, 0.08),
        hx: random.chance(0.8) ? -1 : 1,
        hy: 0,
        speed: 0,
        cruiseSpeed: 0,
        wheelAngle: 0,
        isBraking: false,
      })
    }
  }

  #spawn(lane: 0 | 1, cars: readonly Car[], dt: number): void {
    const random = this.#random
    const start = lane === 1 ? 60 : -45
    this.#secondsUntilArrival[lane] -= dt
    if (this.#secondsUntilArrival[lane] > 0 || cars.some(car => Math.abs(car.x - start) < 9)) return
    this.#secondsUntilArrival[lane] = random.between(0.4, 1.6) * this.#layout.meanCarGapS
    this.cars.push({
      track: this.#nextTrack(),
      appearance: createRandomCarAppearance(random),
      lane,
      x: start,
      y: this.#layout.roadNear + (lane === 1 ? 5.25 : 1.75) + random.between(-0.2, 0.2),
      hx: lane === 1 ? -1 : 1,
      hy: 0,
      speed: 8,
      cruiseSpeed: random.between(7.5, 11),
      wheelAngle: 0,
      isBraking: false,
    })
  }

  /** Moves a car by one step. A stop line is treated like a standing car. */
  #drive(car: Car, lane: readonly Car[], dt: number, phase: SignalPhase, people: readonly Walker[]): void {
    let { gap, closing } = findGapAhead(car, lane)
    const stop = this.#distanceToStopLine(car)
    const mustStop = phase !== 'cars' || this.#isCrossingOccupied(people)
    const canStop = stop > -0.3 && stop > (car.speed * car.speed) / 2 / 5 - 0.8
    if (mustStop && canStop && stop < gap) {
      gap = Math.max(0.05, stop + 1.2)
      closing = car.speed
    }
    const reaction =
      car.speed * 1.2 + (car.speed * closing) / (2 * Math.sqrt(ACCELERATION_MPS2 * COMFORTABLE_BRAKING_MPS2))
    const desiredGap = 1.6 + Math.max(0, reaction)
    const speedTerm = square(car.speed / car.cruiseSpeed)
    const gapTerm = desiredGap / Math.max(0.05, gap)
    const idmAcceleration = ACCELERATION_MPS2 * (1 - speedTerm * speedTerm - gapTerm * gapTerm)
    const acceleration = Math.min(2, Math.max(-6, idmAcceleration))
    car.isBraking = acceleration < -0.6 || car.speed < 0.3
    car.speed = Math.max(0, car.speed + acceleration * dt)
    car.x += car.hx * car.speed * dt
    car.wheelAngle += (car.speed * dt) / WHEEL_RADIUS_M
  }

  #distanceToStopLine(car: Car): number {
    const { crossingX, crossingHalfWidth } = this.#layout
    return (crossingX - car.hx * (crossingHalfWidth + 1.7) - car.x) * car.hx - car.appearance.length / 2
  }

  #isCrossingOccupied(people: readonly Walker[]): boolean {
    const { roadNear, roadFar, crossingX, crossingHalfWidth } = this.#layout
    return people.some(
      ({ x, y }) =>
        y > roadNear - 0.1 && y < roadFar + 0.3 && Math.abs(x - crossingX) < crossingHalfWidth + 1.5,
    )
  }
}

/** Returns the bumper-to-bumper distance to the car ahead, and the speed at which it closes. */
function findGapAhead(car: Car, lane: readonly Car[]): { gap: number; closing: number } {
  let gap = 1e9
  let closing = 0
  for (const other of lane) {
    const ahead = (other.x - car.x) * car.hx
    if (other === car || ahead <= 0) continue
    const between = ahead - (other.appearance.length + car.appearance.length) / 2
    if (between < gap) {
      gap = between
      closing = car.speed - other.speed
    }
  }
  return { gap, closing }
}
