import { square } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { Walker } from '../people/walkers.ts'
import type { SignalPhase } from '../street/crossing.ts'
import { type Layout, PARKING_PLACE_M } from '../street/layout.ts'
import { type CarAppearance, createRandomCarAppearance } from './car-appearance.ts'

/**
 * A moving or parked car. Lane 0 is near and leads to the right, lane 1 is far and leads to the
 * left. Units: metres and seconds.
 */
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

const WHEEL_RADIUS_M = 0.33

// Parameters of the Intelligent Driver Model.
const ACCELERATION_MPS2 = 1.8
const COMFORTABLE_BRAKING_MPS2 = 2.5
const TIME_GAP_S = 1.2
const MIN_GAP_M = 1.6

/** Where cars of lane 0 and lane 1 appear, far outside the picture. */
const START_X = [-45, 60] as const
/** Distance of lane 0 and lane 1 from the near edge of the road. */
const LANE_Y = [1.75, 5.25] as const
/** A car that is farther than this from the middle of the street is removed. */
const MIDDLE_X = 7
const MAX_DISTANCE_M = 60

/** Length of the longest car that fits in a place of the parking bay. */
const MAX_PARKED_LENGTH_M = 4.9

/** A driver who would have to brake harder than this does not stop any more. */
const MAX_STOP_BRAKING_MPS2 = 5
/** Distance between the stop line and the crossing. */
const STOP_LINE_M = 1.7
/** Cars stop this far before the gap that the model leaves, so that they stand at the line. */
const STOP_MARGIN_M = 1.2
const FREE_ROAD: Gap = { distance: 1e9, closingSpeed: 0 }

/**
 * Simulates cars that follow each other according to the Intelligent Driver Model (Treiber et al.
 * 2000) and stop at red.
 */
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
    this.cars = this.cars.filter(
      car => car.lane === 'parked' || Math.abs(car.x - MIDDLE_X) < MAX_DISTANCE_M,
    )
  }

  #placeParkedCars(): void {
    const { crossingX, crossingHalfWidth, roadFar } = this.#layout
    const random = this.#random
    for (let place = -6; place < 9; place++) {
      const middle = crossingX + PARKING_PLACE_M * place + PARKING_PLACE_M / 2
      const isAtCrossing = Math.abs(middle - crossingX) <= crossingHalfWidth + 4
      if (isAtCrossing || !random.chance(0.5)) continue

      const appearance = createRandomCarAppearance(random)
      if (appearance.length > MAX_PARKED_LENGTH_M) continue
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

  /** Lets a car enter the lane at random intervals. */
  #spawn(lane: 0 | 1, cars: readonly Car[], dt: number): void {
    const random = this.#random
    const start = START_X[lane]
    this.#secondsUntilArrival[lane] -= dt
    const isStartOccupied = cars.some(car => Math.abs(car.x - start) < 9)
    if (this.#secondsUntilArrival[lane] > 0 || isStartOccupied) return

    this.#secondsUntilArrival[lane] = random.between(0.4, 1.6) * this.#layout.meanCarGapS
    this.cars.push({
      track: this.#nextTrack(),
      appearance: createRandomCarAppearance(random),
      lane,
      x: start,
      y: this.#layout.roadNear + LANE_Y[lane] + random.between(-0.2, 0.2),
      hx: lane === 1 ? -1 : 1,
      hy: 0,
      speed: 8,
      cruiseSpeed: random.between(7.5, 11),
      wheelAngle: 0,
      isBraking: false,
    })
  }

  /** Moves a car by one step. A stop line is treated like a standing car. */
  #drive(
    car: Car,
    lane: readonly Car[],
    dt: number,
    phase: SignalPhase,
    people: readonly Walker[],
  ): void {
    let gap = findGapAhead(car, lane)
    const stopDistance = this.#getDistanceToStopLine(car)
    const mustStop = phase !== 'cars' || this.#isCrossingOccupied(people)
    const brakingDistance = (car.speed * car.speed) / 2 / MAX_STOP_BRAKING_MPS2
    const canStop = stopDistance > -0.3 && stopDistance > brakingDistance - 0.8
    if (mustStop && canStop && stopDistance < gap.distance) {
      gap = { distance: Math.max(0.05, stopDistance + STOP_MARGIN_M), closingSpeed: car.speed }
    }

    const acceleration = computeAcceleration(car, gap)
    car.isBraking = acceleration < -0.6 || car.speed < 0.3
    car.speed = Math.max(0, car.speed + acceleration * dt)
    car.x += car.hx * car.speed * dt
    car.wheelAngle += (car.speed * dt) / WHEEL_RADIUS_M
  }

  /** Returns the distance from the front of a car to its stop line; negative behind the line. */
  #getDistanceToStopLine(car: Car): number {
    const { crossingX, crossingHalfWidth } = this.#layout
    const stopLineX = crossingX - car.hx * (crossingHalfWidth + STOP_LINE_M)
    return (stopLineX - car.x) * car.hx - car.appearance.length / 2
  }

  #isCrossingOccupied(people: readonly Walker[]): boolean {
    const { roadNear, roadFar, crossingX, crossingHalfWidth } = this.#layout
    return people.some(
      ({ x, y }) =>
        y > roadNear - 0.1 &&
        y < roadFar + 0.3 &&
        Math.abs(x - crossingX) < crossingHalfWidth + 1.5,
    )
  }
}

/**
 * The gap between a car and the one ahead, from bumper to bumper, and the speed at which it
 * shrinks.
 */
interface Gap {
  distance: number
  closingSpeed: number
}

function findGapAhead(car: Car, lane: readonly Car[]): Gap {
  let nearest = FREE_ROAD
  for (const other of lane) {
    const ahead = (other.x - car.x) * car.hx
    if (other === car || ahead <= 0) continue
    const distance = ahead - (other.appearance.length + car.appearance.length) / 2
    if (distance < nearest.distance) nearest = { distance, closingSpeed: car.speed - other.speed }
  }
  return nearest
}

/** Returns the acceleration of the Intelligent Driver Model, limited to what is comfortable. */
function computeAcceleration({ speed, cruiseSpeed }: Car, gap: Gap): number {
  const reaction =
    speed * TIME_GAP_S +
    (speed * gap.closingSpeed) / (2 * Math.sqrt(ACCELERATION_MPS2 * COMFORTABLE_BRAKING_MPS2))
  const desiredGap = MIN_GAP_M + Math.max(0, reaction)
  const speedTerm = square(speed / cruiseSpeed)
  const gapTerm = desiredGap / Math.max(0.05, gap.distance)
  const acceleration = ACCELERATION_MPS2 * (1 - speedTerm * speedTerm - gapTerm * gapTerm)
  return Math.min(2, Math.max(-6, acceleration))
}
