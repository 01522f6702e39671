import { clamp, hypot, PI, TAU } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { SignalPhase } from '../street/crossing.ts'
import type { Layout } from '../street/layout.ts'
import type { Obstacle } from '../street/site.ts'
import { MODEL_HEIGHT } from './body-pose.ts'
import { createRandomPersonAppearance, type PersonAppearance } from './person-appearance.ts'
import { createRandomRoute, createWaypoint, RIGHT_END, type Waypoint } from './route.ts'

/**
 * A person on a route. Position in metres, speed in metres per second, heading (hx,
 * hy) as a unit vector.
 */
export interface Walker {
  track: number
  appearance: PersonAppearance
  x: number
  y: number
  hx: number
  hy: number
  speed: number
  preferredSpeed: number
  /** Phase of the gait in radians; 2π is one stride (two steps). */
  gaitPhase: number
  /** 0: standing, 1: walking at normal speed. */
  walking: number
  route: Waypoint[]
  /** Index of the waypoint to which the person walks. */
  nextWaypoint: number
}

/** People who are closer avoid each other. */
const PERSONAL_SPACE_M = 1.5
/** Distance at which a waypoint is reached. */
const WAYPOINT_RADIUS_M = 0.35
/** Weight of the direction away from others, relative to the direction to the next waypoint. */
const AVOIDANCE_WEIGHT = 0.55
const NORMAL_SPEED_MPS = 1.1
const MAX_ACCELERATION_MPS2 = 1.6
const MAX_BRAKING_MPS2 = 2.5

/** Simulates people who walk along routes, wait at red lights and avoid each other. */
export class Walkers {
  people: Walker[] = []
  readonly #layout: Layout
  readonly #obstacles: readonly Obstacle[]
  readonly #random: Random
  readonly #nextTrack: () => number

  constructor(
    layout: Layout,
    obstacles: readonly Obstacle[],
    random: Random,
    nextTrack: () => number,
  ) {
    this.#layout = layout
    this.#obstacles = obstacles
    this.#random = random
    this.#nextTrack = nextTrack
    for (let i = 0; i < layout.peopleCount; i++) {
      const person = this.#spawn()
      this.#placeAlongRoute(person)
      this.people.push(person)
    }
    for (const person of this.people) turnToNextWaypoint(person)
  }

  /** Advances all people by `dt` seconds. */
  step(dt: number, phase: SignalPhase): void {
    while (this.people.length < this.#layout.peopleCount) {
      const person = this.#spawn()
      turnToNextWaypoint(person)
      this.people.push(person)
    }

    // Everybody moves before arrived people disappear, because people avoid each other.
    this.people = this.people.filter(person => this.#advance(person, dt, phase))
  }

  /** Creates a person at the start of a random route. */
  #spawn(): Walker {
    const random = this.#random
    const route = createRandomRoute(this.#layout, random)
    const track = this.#nextTrack()
    const appearance = createRandomPersonAppearance(random)
    const phase = random.between(0, TAU)
    const pace = random.between(1.05, 1.6) * (appearance.child ? 0.9 : 1)
    const { x, y } = route[0]!
    return {
      track,
      appearance,
      x,
      y,
      hx: 1,
      hy: 0,
      speed: pace,
      preferredSpeed: pace,
      gaitPhase: phase,
      walking: 1,
      route,
      nextWaypoint: 1,
    }
  }

  /** Moves a new person to a random position along the route, but never onto the road. */
  #placeAlongRoute(person: Walker): void {
    const { roadNear, roadFar, bayDepth } = this.#layout
    const { route } = person
    const lengths = route.slice(1).map((to, i) => hypot(to.x - route[i]!.x, to.y - route[i]!.y))
    let remaining = this.#random.next() * lengths.reduce((sum, length) => sum + length, 0)
    for (const [i, length] of lengths.entries()) {
      const [from, to] = [route[i]!, route[i + 1]!]
      if (remaining < length) {
        person.nextWaypoint = i + 1
        person.x += ((to.x - from.x) * remaining) / length
        person.y += ((to.y - from.y) * remaining) / length
        break
      }
      remaining -= length
      person.x = to.x
      person.y = to.y
    }

    if (person.y > roadNear - 0.5 && person.y < roadFar + bayDepth + 0.5) {
      person.y = roadNear - 1 - this.#random.next() * 3
      person.route = [createWaypoint(0, 0), createWaypoint(RIGHT_END, person.y)]
      person.nextWaypoint = 1
    }
  }

  /** Advances a person by one step. Returns false at the end of the route. */
  #advance(person: Walker, dt: number, phase: SignalPhase): boolean {
    const to = person.route[person.nextWaypoint]!
    const dx = to.x - person.x
    const dy = to.y - person.y
    const distance = hypot(dx, dy) || 1e-6
    const isAtWaypoint = distance < WAYPOINT_RADIUS_M
    const isWaiting = isAtWaypoint && to.waitsForSignal && phase !== 'people'
    if (isAtWaypoint && !isWaiting) {
      person.nextWaypoint++
      return person.nextWaypoint < person.route.length
    }

    const avoidance = this.#computeAvoidance(person)
    const targetSpeed = (isWaiting ? 0 : person.preferredSpeed) * avoidance.slowdown
    const directionX = dx / distance + avoidance.x * AVOIDANCE_WEIGHT
    const directionY = dy / distance + avoidance.y * AVOIDANCE_WEIGHT
    if (targetSpeed > 0 || person.speed > 0.1) turnTowards(person, directionX, directionY, dt)
    walk(person, targetSpeed, dt)
    return true
  }

  /**
   * Returns the repulsion from nearby people and obstacles, and the factor by which to slow
   * down for people ahead.
   */
  #computeAvoidance(person: Walker): { x: number; y: number; slowdown: number } {
    let x = 0
    let y = 0
    let slowdown = 1
    for (const other of this.people) {
      if (other === person) continue
      const awayX = person.x - other.x
      const awayY = person.y - other.y
      const distance = hypot(awayX, awayY)
      if (distance >= PERSONAL_SPACE_M || distance <= 1e-4) continue

      // Everybody moves to the same side, so that two people who meet pass each other.
      const strength = ((PERSONAL_SPACE_M - distance) / distance) * 0.9
      x += awayX * strength - awayY * strength * 0.5
      y += awayY * strength + awayX * strength * 0.5
      const isAhead = awayX * person.hx + awayY * person.hy < 0
      if (distance < 0.8 && isAhead) slowdown *= 0.6
    }
    for (const [ox, oy, radius] of this.#obstacles) {
      const awayX = person.x - ox
      const awayY = person.y - oy
      const distance = hypot(awayX, awayY)
      const reach = radius + 0.9
      if (distance >= reach) continue

      const strength = ((reach - distance) / distance) * 1.8
      x += awayX * strength - awayY * strength * 0.6
      y += awayY * strength + awayX * strength * 0.6
    }
    return { x, y, slowdown }
  }
}

function turnToNextWaypoint(person: Walker): void {
  const to = person.route[person.nextWaypoint]!
  const dx = to.x - person.x
  const dy = to.y - person.y
  const length = hypot(dx, dy) || 1
  person.hx = dx / length
  person.hy = dy / length
}

/** Turns a person towards a direction, gradually. */
function turnTowards(person: Walker, directionX: number, directionY: number, dt: number): void {
  const length = hypot(directionX, directionY) || 1
  person.hx += (directionX / length - person.hx) * 3 * dt
  person.hy += (directionY / length - person.hy) * 3 * dt
  const norm = hypot(person.hx, person.hy) || 1
  person.hx /= norm
  person.hy /= norm
}

/** Changes the speed gradually, and moves a person and their legs accordingly. */
function walk(person: Walker, targetSpeed: number, dt: number): void {
  person.speed += clamp(
    targetSpeed - person.speed,
    -MAX_BRAKING_MPS2 * dt,
    MAX_ACCELERATION_MPS2 * dt,
  )
  person.walking = clamp(person.speed / NORMAL_SPEED_MPS, 0, 1.15)
  person.x += person.hx * person.speed * dt
  person.y += person.hy * person.speed * dt

  const legLength = (0.85 * person.appearance.height) / MODEL_HEIGHT
  const stride = legLength * (0.62 + 0.42 * person.walking) * 2 * 0.82
  person.gaitPhase += ((person.speed * dt) / stride) * PI * 1.02
}
