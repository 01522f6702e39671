import { clamp, hypot, PI, TAU } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { SignalPhase } from '../street/crossing.ts'
import type { Layout } from '../street/layout.ts'
import type { Obstacle } from '../street/site.ts'
import { createRandomPersonAppearance, type PersonAppearance } from './person-appearance.ts'
import { createRandomRoute, createWaypoint, RIGHT_END, type Waypoint } from './route.ts'

/** A person on a way through the square. Metres, metres a second. */
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

const PERSONAL_SPACE = 1.5
const ARRIVED = 0.35

/** The people of the scene, who walk their routes, wait at red and keep out of each other's way. */
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
    for (let i = 0; i < layout.peopleCount; i++) this.people.push(this.#spread(this.#spawn()))
    for (const person of this.people) this.#face(person)
  }

  step(dt: number, phase: SignalPhase): void {
    while (this.people.length < this.#layout.peopleCount) {
      const person = this.#spawn()
      this.#face(person)
      this.people.push(person)
    }
    const gone = new Set<Walker>()
    for (const person of this.people) if (!this.#walk(person, dt, phase)) gone.add(person)
    this.people = this.people.filter(person => !gone.has(person))
  }

  #spawn(): Walker {
    const random = this.#random
    const route = createRandomRoute(this.#layout, random)
    const track = this.#nextTrack()
    const look = createRandomPersonAppearance(random)
    const phase = random.between(0, TAU)
    const pace = random.between(1.05, 1.6) * (look.child ? 0.9 : 1)
    const { x, y } = route[0]!
    return {
      track,
      appearance: look,
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

  /** Moves a new person to a random place along the route, but not onto the road. */
  #spread(person: Walker): Walker {
    const { roadNear, roadFar, bayDepth } = this.#layout
    const { route } = person
    const legs = route.slice(1).map((to, i) => hypot(to.x - route[i]!.x, to.y - route[i]!.y))
    let left = this.#random.next() * legs.reduce((sum, leg) => sum + leg, 0)
    for (const [i, leg] of legs.entries()) {
      const [from, to] = [route[i]!, route[i + 1]!]
      if (left < leg) {
        person.nextWaypoint = i + 1
        person.x += ((to.x - from.x) * left) / leg
        person.y += ((to.y - from.y) * left) / leg
        break
      }
      left -= leg
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

  #face(person: Walker): void {
    const to = person.route[person.nextWaypoint]!
    const dx = to.x - person.x
    const dy = to.y - person.y
    const length = hypot(dx, dy) || 1
    person.hx = dx / length
    person.hy = dy / length
  }

  /** Moves a person by one step; false at the end of the route. */
  #walk(person: Walker, dt: number, phase: SignalPhase): boolean {
    const to = person.route[person.nextWaypoint]!
    let dx = to.x - person.x
    let dy = to.y - person.y
    const distance = hypot(dx, dy) || 1e-6
    let wanted = person.preferredSpeed
    if (distance < ARRIVED) {
      if (to.waitsForSignal && phase !== 'people') wanted = 0
      else return ++person.nextWaypoint < person.route.length
    }
    dx /= distance
    dy /= distance
    const push = this.#avoidance(person)
    wanted *= push.slowing
    let wx = dx + push.x * 0.55
    let wy = dy + push.y * 0.55
    const length = hypot(wx, wy) || 1
    wx /= length
    wy /= length
    if (wanted > 0 || person.speed > 0.1) {
      person.hx += (wx - person.hx) * 3 * dt
      person.hy += (wy - person.hy) * 3 * dt
      const norm = hypot(person.hx, person.hy) || 1
      person.hx /= norm
      person.hy /= norm
    }
    person.speed += clamp(wanted - person.speed, -2.5 * dt, 1.6 * dt)
    person.walking = clamp(person.speed / 1.1, 0, 1.15)
    person.x += person.hx * person.speed * dt
    person.y += person.hy * person.speed * dt
    const leg = (0.85 * person.appearance.height) / 1.75
    const stride = leg * (0.62 + 0.42 * person.walking) * 2 * 0.82
    person.gaitPhase += ((person.speed * dt) / stride) * PI * 1.02
    return true
  }

  /** The push away from people and obstacles nearby, and how much to slow for somebody ahead. */
  #avoidance(person: Walker): { x: number; y: number; slowing: number } {
    let x = 0
    let y = 0
    let slowing = 1
    for (const other of this.people) {
      if (other === person) continue
      const ex = person.x - other.x
      const ey = person.y - other.y
      const distance = hypot(ex, ey)
      if (distance >= PERSONAL_SPACE || distance <= 1e-4) continue
      const k = ((PERSONAL_SPACE - distance) / distance) * 0.9
      x += ex * k - ey * k * 0.5
      y += ey * k + ex * k * 0.5
      if (distance < 0.8 && ex * person.hx + ey * person.hy < 0) slowing *= 0.6
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
    return { x, y, slowing }
  }
}
