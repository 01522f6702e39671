import { clamp, hypot, PI, TAU } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { SignalPhase } from '../street/crossing.ts'
import type { Layout } from '../street/layout.ts'
import type { Obstacle } from '../street/site.ts'
import { createRandomPersonAppearance, type PersonAppearance } from './person-appearance.ts'
import { createRandomRoute, createWaypoint, RIGHT_END, type Waypoint } from './route.ts'

/** A person on a route. Position in metres, speed in metres per second, heading (hx, hy) as a unit vector. */
export interface Walker {
  track: number
  appearance: PersonAppearance
  x: number
  y: number
  hx: number
  hy: number
  speed: number
  preferredSpeed: number
  gaitPhase: number
  walking: number
  route: Waypoint[]
  nextWaypoint: number
}

/** People who are closer avoid each other. */
const PERSONAL_SPACE_M = 1.5
/** Distance at which a waypoint is reached. */
const WAYPOINT_RADIUS_M = 0.35

/** Simulates people who walk along routes, wait at red lights and avoid each other. */
export class Walkers {
  people: Walker[] = []
  readonly #layout: Layout
  readonly #obstacles: readonly Obstacle[]
  readonly #random: Random
  readonly #nextTrack: () => number

  constructor(layout: Layout, obstacles: readonly Obstacle[], random: Random, nextTrack: () => number) {
    this.#layout = layout
    this.#obstacles = obstacles
    this.#random = random
    this.#nextTrack = nextTrack
    for (let i = 0; i < layout.peopleCount; i++) this.people.push(this.#placeAlongRoute(this.#spawn()))
    for (const person of this.people) this.#turnToNextWaypoint(person)
  }

  /** Advances all people by `dt` seconds. */
  step(dt: number, phase: SignalPhase): void {
    while (this.people.length < this.#layout.peopleCount) {
      const person = this.#spawn()
      this.#turnToNextWaypoint(person)
      this.people.push(person)
    }
    const arrived = new Set<Walker>()
    for (const person of this.people) if (!this.#advance(person, dt, phase)) arrived.add(person)
    this.people = this.people.filter(person => !arrived.has(person))
  }

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
  #placeAlongRoute(person: Walker): Walker {
    const { roadNear, roadFar, bayDepth } = this.#layout
    const { route } = person
    const legs = route.slice(1).map((to, i) => hypot(to.x - route[i]!.x, to.y - route[i]!.y))
    let remaining = this.#random.next() * legs.reduce((sum, leg) => sum + leg, 0)
    for (const [i, leg] of legs.entries()) {
      const [from, to] = [route[i]!, route[i + 1]!]
      if (remaining < leg) {
        person.nextWaypoint = i + 1
        person.x += ((to.x - from.x) * remaining) / leg
        person.y += ((to.y - from.y) * remaining) / leg
        break
      }
      remaining -= leg
      person.x = to.x
      person.y = to.y
    }
    if (person.y > roadNear - 0.5 && person.y < roadFar + bayDepth + 0.5) {
      person.y = roadNear - 1 - this.#random.next() * 3
      person.route = [createWaypoint(0, 0), createWaypoint(RIGHT_END, person.y)]
      person.nextWaypoint = 1
    }
    return person
  }

  #turnToNextWaypoint(person: Walker): void {
    const to = person.route[person.nextWaypoint]!
    const dx = to.x - person.x
    const dy = to.y - person.y
    const length = hypot(dx, dy) || 1
    person.hx = dx / length
    person.hy = dy / length
  }

  /** Advances a person by one step. Returns false at the end of the route. */
  #advance(person: Walker, dt: number, phase: SignalPhase): boolean {
    const to = person.route[person.nextWaypoint]!
    let dx = to.x - person.x
    let dy = to.y - person.y
    const distance = hypot(dx, dy) || 1e-6
    let targetSpeed = person.preferredSpeed
    if (distance < WAYPOINT_RADIUS_M) {
      if (to.waitsForSignal && phase !== 'people') targetSpeed = 0
      else return ++person.nextWaypoint < person.route.length
    }
    dx /= distance
    dy /= distance
    const avoidance = this.#computeAvoidance(person)
    targetSpeed *= avoidance.slowdown
    let directionX = dx + avoidance.x * 0.55
    let directionY = dy + avoidance.y * 0.55
    const length = hypot(directionX, directionY) || 1
    directionX /= length
    directionY /= length
    if (targetSpeed > 0 || person.speed > 0.1) {
      person.hx += (directionX - person.hx) * 3 * dt
      person.hy += (directionY - person.hy) * 3 * dt
      const norm = hypot(person.hx, person.hy) || 1
      person.hx /= norm
      person.hy /= norm
    }
    person.speed += clamp(targetSpeed - person.speed, -2.5 * dt, 1.6 * dt)
    person.walking = clamp(person.speed / 1.1, 0, 1.15)
    person.x += person.hx * person.speed * dt
    person.y += person.hy * person.speed * dt
    const leg = (0.85 * person.appearance.height) / 1.75
    const stride = leg * (0.62 + 0.42 * person.walking) * 2 * 0.82
    person.gaitPhase += ((person.speed * dt) / stride) * PI * 1.02
    return true
  }

  /** Returns the repulsion from nearby people and obstacles, and the factor by which to slow down for people ahead. */
  #computeAvoidance(person: Walker): { x: number; y: number; slowdown: number } {
    let x = 0
    let y = 0
    let slowdown = 1
    for (const other of this.people) {
      if (other === person) continue
      const ex = person.x - other.x
      const ey = person.y - other.y
      const distance = hypot(ex, ey)
      if (distance >= PERSONAL_SPACE_M || distance <= 1e-4) continue
      const k = ((PERSONAL_SPACE_M - distance) / distance) * 0.9
      x += ex * k - ey * k * 0.5
      y += ey * k + ex * k * 0.5
      if (distance < 0.8 && ex * person.hx + ey * person.hy < 0) slowdown *= 0.6
    }
    for (const [ox, oy, radius] of this.#obstacles) {
      const ex = person.x - ox
      const ey = person.y - oy
      const distance = hypot(ex, ey)
      const reach = radius + 0.9
      if (distance >= reach) continue
      const k = ((reach - distance) / distance) * 1.8
      x += ex * k - ey * k * 0.6
      y += ey * k + ex * k * 0.6
    }
    return { x, y, slowdown }
  }
}
