import { paint, type Rgb, scaled } from './colour.ts'
import { clamp, cos, sin, TAU } from './maths.ts'
import type { Mesh } from './mesh.ts'
import { hash } from './noise.ts'
import type { PersonLook } from './person-look.ts'

/** Where a person stands (metres), looks to (unit vector) and is in the stride. */
export interface Stance {
  x: number
  y: number
  hx: number
  hy: number
  /** Phase of the gait in radians; one stride (two steps) is a turn. */
  phase: number
  /** 0 standing to 1 walking. */
  walk: number
}

const PHONE = paint(0x101014)
const SIDES = [-1, 1] as const

interface Leg {
  side: number
  kneeForward: number
  kneeUp: number
  ankleForward: number
  ankleUp: number
  thigh: number
  shin: number
  foot: number
}

/** Adds a walking or standing person to the mesh. */
export function addPerson(mesh: Mesh, look: PersonLook, stance: Stance): void {
  new Body(mesh, look, stance).build()
}

class Body {
  readonly #mesh: Mesh
  readonly #look: PersonLook
  readonly #stance: Stance
  /** Height over that of the 1.75 m model, and the same for girths. */
  readonly #k: number
  readonly #girth: number
  readonly #swing: number
  readonly #lean: number
  readonly #twist: number
  readonly #legs: Leg[]
  readonly #pelvis: number

  constructor(mesh: Mesh, look: PersonLook, stance: Stance) {
    const { phase, walk } = stance
    const k = look.height / 1.75
    this.#mesh = mesh
    this.#look = look
    this.#stance = stance
    this.#k = k
    this.#girth = look.width * k
    this.#swing = (0.05 + 0.36 * walk) * look.swing * (walk > 0.02 ? 1 : 0.35)
    this.#lean = look.lean + 0.03 * walk
    this.#twist = 0.12 * walk * sin(phase)
    this.#legs = SIDES.map(side => this.#leg(side))
    const lowest = Math.min(...this.#legs.map(leg => leg.ankleUp - 0.05 * k * Math.abs(leg.foot)))
    this.#pelvis = -lowest + 0.075 * k
  }

  build(): void {
    for (const leg of this.#legs) this.#addLeg(leg)
    this.#addTorso()
    if (this.#look.skirt || this.#look.coat) this.#addSkirt()
    for (const side of SIDES) this.#addArm(side)
    this.#addHead()
    if (this.#look.backpack) this.#addBackpack(this.#look.backpack)
  }

  #leg(side: number): Leg {
    const { phase, walk } = this.#stance
    const p = phase + (side > 0 ? TAU / 2 : 0)
    const thigh = this.#swing * sin(p) + 0.05 * walk
    const lift = Math.max(0, cos(p + 0.3))
    const knee = 0.06 + walk * (0.78 * lift * lift + 0.1 * Math.max(0, sin(p)))
    const upper = 0.43 * this.#k
    const lower = 0.42 * this.#k
    const kneeForward = upper * sin(thigh)
    const kneeUp = -upper * cos(thigh)
    const shin = thigh - knee
    return {
      side,
      kneeForward,
      kneeUp,
      ankleForward: kneeForward + lower * sin(shin),
      ankleUp: kneeUp - lower * cos(shin),
      thigh,
      shin,
      foot: clamp(shin * 0.75 + (sin(p) > 0.2 ? 0.15 * walk : 0), -0.9, 0.5) * walk,
    }
  }

  /** Height above the ground of a point of the torso, in metres of the 1.75 m model. */
  #up(z: number): number {
    return this.#pelvis + z * this.#k
  }

  #leaning(z: number): number {
    return this.#lean * z * this.#k
  }

  #at(forward: number, right: number): [number, number] {
    const { x, y, hx, hy } = this.#stance
    return [x + hx * forward + hy * right, y + hy * forward - hx * right]
  }

  /** A ring with half axis a to the right and b along (of, oz), forward and up; turned by `twist`. */
  #ring(forward: number, right: number, z: number, a: number, b: number, of = 1, oz = 0, twist = 0): void {
    const { hx, hy } = this.#stance
    const [x, y] = this.#at(forward, right)
    const c = cos(twist)
    const d = sin(twist)
    // biome-ignore format: centre, right axis, other axis
    this.#mesh.ring(
      x, y, z,
      (hy * c + hx * d) * a, (-hx * c + hy * d) * a, 0,
      (hx * of * c - hy * d * of) * b, (hy * of * c + hx * d * of) * b, oz * b,
    )
  }

  #addLeg(leg: Leg): void {
    const { hx, hy } = this.#stance
    const look = this.#look
    const k = this.#k
    const hip = 0.095 * k * (look.female ? 1.05 : 1)
    const s = leg.side * hip
    const s2 = leg.side * hip * 0.82
    const width = this.#girth
    const loose = look.skirt ? 0.85 : 1.06
    for (const [t, r] of THIGH)
      this.#ring(
        leg.kneeForward * t,
        s + (s2 - s) * t,
        this.#pelvis + 0.02 + (leg.kneeUp - 0.02) * t,
        r * width * loose,
        r * width * loose * 1.05,
        cos(leg.thigh),
        sin(leg.thigh),
      )
    for (const [t, r] of SHIN)
      this.#ring(
        leg.kneeForward + (leg.ankleForward - leg.kneeForward) * t,
        s2,
        this.#pelvis + leg.kneeUp + (leg.ankleUp - leg.kneeUp) * t,
        r * width * loose,
        r * width * loose * 1.08,
        cos(leg.shin),
        sin(leg.shin),
      )
    this.#mesh.loft(8, ring => {
      if (look.skirt) return ring >= 3 ? look.skin : look.bottom
      if (look.shorts && ring >= 4) return look.skin
      return scaled(look.bottom, 0.92 + 0.16 * hash(ring, leg.side, look.salt))
    })
    const ff = cos(leg.foot)
    const fz = sin(leg.foot)
    const ankle = this.#pelvis + leg.ankleUp
    for (const [t, r, h, dz] of FOOT) {
      const [x, y] = this.#at(leg.ankleForward + (t * ff + dz * fz) * k, s2)
      // biome-ignore format: centre, right axis, other axis
      this.#mesh.ring(
        x, y, ankle + (t * fz + dz * ff) * k,
        hy * r * width, -hx * r * width, 0,
        -hx * fz * h * k, -hy * fz * h * k, ff * h * k,
      )
    }
    this.#mesh.loft(8, look.shoes, 0.15)
  }

  #addTorso(): void {
    const look = this.#look
    const profile = look.female ? FEMALE_TORSO : MALE_TORSO
    profile.forEach(([z, a, b], i) => {
      const twist = -this.#twist + 2.2 * this.#twist * clamp(z / 0.45, 0, 1)
      const padding = look.coat && i > 1 && i < 8 ? 1.12 : 1
      const girth = this.#girth
      this.#ring(this.#leaning(z), 0, this.#up(z), a * girth * padding, b * girth * padding, 1, 0, twist)
    })
    this.#mesh.loft(14, (ring, side) => {
      if (ring < 2 && !look.coat) return scaled(look.bottom, 0.95)
      if (ring === 2 && !look.coat && !look.female) return scaled(look.bottom, 0.5) // the belt
      let c = look.top
      if (look.pattern === 'stripes' && ring & 1) c = look.accent
      if (look.pattern === 'shoulders' && ring >= 6) c = look.accent
      if (look.coat && side === 3) c = scaled(c, 0.55) // the buttons
      return scaled(c, 0.9 + 0.2 * hash(ring, side >> 1, look.salt))
    })
  }

  /** A skirt, or a coat's tails. */
  #addSkirt(): void {
    const look = this.#look
    const length = look.coat ? 0.48 : 0.42
    const flare = look.coat ? 1.12 : 1.35
    const cloth = look.coat ? look.top : look.bottom
    const sway = 0.03 * this.#stance.walk * sin(this.#stance.phase * 2)
    const reach = Math.max(...this.#legs.map(leg => Math.abs(leg.kneeForward)))
    for (let i = 0; i <= 4; i++) {
      const t = i / 4
      this.#ring(
        sway * t,
        0,
        this.#up(0.1 - (length + 0.1) * t),
        (0.158 + (0.165 * flare - 0.15) * t * 0.6) * this.#girth,
        (0.11 + 0.05 * (flare - 0.8) * t) * this.#girth + reach * 0.62 * t,
        1,
        0,
        -this.#twist,
      )
    }
    this.#mesh.loft(14, (ring, side) => scaled(cloth, 0.82 + 0.3 * hash(ring >> 1, side, look.salt + 5)))
  }

  #addArm(side: number): void {
    const { phase, walk, hx, hy } = this.#stance
    const look = this.#look
    const k = this.#k
    const girth = this.#girth
    const p = phase + (side > 0 ? 0 : TAU / 2)
    const phone = look.phone && side > 0
    const upper = phone ? 0.35 : ((0.52 * this.#swing) / 0.46) * sin(p) * 0.8 - 0.02 + this.#lean
    const bend = phone ? 1.9 : 0.18 + 0.28 * walk * (1 + sin(p)) * 0.6
    const fore = upper + bend
    const upperLength = 0.285 * k
    const foreLength = 0.255 * k
    const shoulder = (look.female ? 0.172 : 0.197) * girth
    const shoulderForward = this.#leaning(0.455) + side * -1 * sin(1.2 * this.#twist) * shoulder
    const shoulderUp = this.#up(0.455)
    const elbowForward = upperLength * sin(upper)
    const elbowUp = -upperLength * cos(upper)
    const wristForward = elbowForward + foreLength * sin(fore)
    const wristUp = elbowUp - foreLength * cos(fore)
    const right = (t: number): number => side * shoulder * 0.98 + side * 0.06 * girth * t
    for (const [t, r] of UPPER_ARM)
      this.#ring(
        shoulderForward + elbowForward * t,
        right(t),
        shoulderUp + elbowUp * t + 0.015,
        r * girth,
        r * girth,
        cos(upper),
        sin(upper),
      )
    for (const [t, r] of FOREARM_AND_HAND)
      this.#ring(
        shoulderForward + elbowForward + (wristForward - elbowForward) * t,
        right(1) - (phone ? side * 0.09 * t * k : 0),
        shoulderUp + elbowUp + (wristUp - elbowUp) * t,
        r * girth,
        r * girth * (t > 1 ? 0.7 : 1),
        cos(fore),
        sin(fore),
      )
    this.#mesh.loft(8, ring => {
      if (ring >= 9 || (look.shortSleeves && ring >= 4)) return look.skin
      if (look.pattern === 'shoulders' && !look.coat) return look.accent
      const striped = look.pattern === 'stripes' && ring & 1 && !look.coat
      return scaled(striped ? look.accent : look.top, 0.92 + 0.14 * hash(ring, side, look.salt + 2))
    })
    if (phone) {
      const [x, y] = this.#at(shoulderForward + wristForward + 0.03, right(1) - side * 0.1 * k)
      this.#mesh.ellipsoid(x, y, shoulderUp + wristUp + 0.08, 0.03, 0.012, 0.06, hx, hy, 6, 4, PHONE, 0.6)
    }
    if (look.bag && side > 0 && !phone) {
      const z = shoulderUp + wristUp - 0.22 * k
      for (const [dz, a] of BAG)
        this.#ring(shoulderForward + wristForward, right(1) + 0.02, z + dz * k, a * k, a * 3 * k)
      this.#mesh.loft(8, look.bag, 0.08, 0.6)
    }
  }

  #addHead(): void {
    const { hx, hy } = this.#stance
    const look = this.#look
    const k = this.#k
    const skin = look.skin
    const neck = this.#leaning(0.56) + 0.01
    for (const [z, r] of NECK)
      this.#ring(neck + (z - 0.5) * 0.1, 0, this.#up(z), r * this.#girth, r * this.#girth)
    this.#mesh.loft(8, skin)
    const z = this.#up(0.735 + (look.child ? 0.02 : 0))
    const size = look.child ? 0.94 / Math.sqrt(k) : 1 // children have large heads
    const [x, y] = this.#at(neck + 0.03 * k, 0)
    const add = this.#mesh.ellipsoid.bind(this.#mesh)
    add(x, y, z, 0.078 * k * size, 0.095 * k * size, 0.12 * k * size, hx, hy, 10, 9, (ring, side) =>
      ring === 4 && (side === 1 || side === 3) ? scaled(skin, 0.45) : scaled(skin, ring > 6 ? 0.8 : 1),
    )
    const radius = 0.1 * k * size
    add(
      x + hx * 0.012 * k + hx * radius * 0.9,
      y + hy * 0.012 * k + hy * radius * 0.9,
      z - 0.015 * k,
      0.014 * k,
      0.02 * k,
      0.025 * k,
      hx,
      hy,
      6,
      3,
      skin,
    )
    if (look.hat) {
      add(x, y, z + 0.045 * k, 0.09 * k, 0.108 * k, 0.095 * k, hx, hy, 12, 4, look.hat, 0, 0, 0.52)
      const [bx, by, brim] = [x + hx * 0.06 * k, y + hy * 0.06 * k, scaled(look.hat, 0.8)]
      add(bx, by, z + 0.045 * k, 0.075 * k, 0.12 * k, 0.012 * k, hx, hy, 10, 3, brim)
    }
    if (!look.bald) this.#addHair(x, y, z, size)
  }

  #addHair(x: number, y: number, z: number, size: number): void {
    const { hx, hy } = this.#stance
    const { hair, longHair, salt } = this.#look
    const k = this.#k
    const short = (ring: number, side: number): Rgb | null => {
      if (ring >= 3 && side >= 1 && side <= 4) return null // the face
      if (ring >= 5 && (side < 1 || side > 4) && !longHair && (side < 6 || side > 11)) return null
      return scaled(hair, 0.8 + 0.4 * hash(ring, side, salt))
    }
    // biome-ignore format: centre, radii, heading
    this.#mesh.ellipsoid(
      x - hx * 0.012 * k, y - hy * 0.012 * k, z + 0.012 * k,
      0.086 * k * size, 0.098 * k * size, 0.122 * k * size,
      hx, hy, 12, 7, short, 0.08, 0, longHair ? 0.78 : 0.68,
    )
    if (!longHair) return
    for (const [dz, a, b, f] of LONG_HAIR)
      // biome-ignore format: centre, right axis, forward axis
      this.#mesh.ring(
        x + hx * f * k, y + hy * f * k, z + dz * k,
        hy * a * k, -hx * a * k, 0,
        hx * b * k, hy * b * k, 0,
      )
    this.#mesh.loft(10, (_, side) => scaled(hair, 0.8 + 0.4 * hash(side, 3, salt)), 0.08)
  }

  #addBackpack(colour: Rgb): void {
    for (const [z, a, b] of BACKPACK)
      this.#ring(
        this.#leaning(z) - 0.155 * this.#girth,
        0,
        this.#up(z),
        a * this.#k,
        b * this.#k,
        1,
        0,
        this.#twist,
      )
    this.#mesh.loft(12, ring => scaled(colour, ring === 2 ? 0.7 : 1), 0.03, 0.5)
  }
}

// Profiles: the place along the limb (0..1) or the height (metres), then half axes.
const THIGH = [
  [0, 0.092],
  [0.25, 0.088],
  [0.55, 0.072],
  [0.88, 0.06],
  [1, 0.058],
] as const
const SHIN = [
  [0.08, 0.056],
  [0.3, 0.06],
  [0.6, 0.047],
  [0.9, 0.04],
  [1, 0.043],
] as const
// biome-ignore format: tables
const FOOT = [
  [-0.075, 0.01, 0.01, -0.03], [-0.065, 0.036, 0.045, -0.022], [0, 0.042, 0.056, -0.018],
  [0.07, 0.044, 0.038, -0.036], [0.135, 0.042, 0.028, -0.046], [0.165, 0.02, 0.015, -0.055],
  [0.168, 0.005, 0.005, -0.055],
] as const
// biome-ignore format: tables
const FEMALE_TORSO = [
  [-0.1, 0.128, 0.085], [-0.04, 0.16, 0.112], [0.03, 0.165, 0.115], [0.12, 0.142, 0.098],
  [0.2, 0.128, 0.09], [0.3, 0.146, 0.108], [0.38, 0.158, 0.112], [0.45, 0.168, 0.095],
  [0.5, 0.135, 0.075], [0.535, 0.06, 0.05], [0.55, 0.045, 0.045],
] as const
// biome-ignore format: tables
const MALE_TORSO = [
  [-0.1, 0.125, 0.085], [-0.04, 0.155, 0.112], [0.03, 0.16, 0.115], [0.12, 0.156, 0.106],
  [0.2, 0.158, 0.105], [0.3, 0.175, 0.116], [0.38, 0.188, 0.118], [0.45, 0.192, 0.098],
  [0.505, 0.15, 0.078], [0.54, 0.07, 0.055], [0.555, 0.05, 0.05],
] as const
// biome-ignore format: tables
const UPPER_ARM = [
  [-0.1, 0.02], [-0.05, 0.052], [0.1, 0.06], [0.4, 0.053], [0.75, 0.046], [1, 0.043],
] as const
// biome-ignore format: tables
const FOREARM_AND_HAND = [
  [0.15, 0.043], [0.5, 0.039], [0.9, 0.03], [1, 0.03], [1.06, 0.036], [1.2, 0.04], [1.36, 0.03],
  [1.42, 0.008],
] as const
const BAG = [
  [0.12, 0.02],
  [0.11, 0.05],
  [0, 0.055],
  [-0.13, 0.05],
  [-0.14, 0.01],
] as const
const NECK = [
  [0.5, 0.062],
  [0.55, 0.052],
  [0.61, 0.05],
] as const
// biome-ignore format: tables
const LONG_HAIR = [
  [0.06, 0.07, 0.05, -0.05], [-0.02, 0.088, 0.055, -0.055], [-0.12, 0.09, 0.05, -0.07],
  [-0.22, 0.075, 0.04, -0.085], [-0.27, 0.03, 0.02, -0.085],
] as const
// biome-ignore format: tables
const BACKPACK = [
  [0.08, 0.05, 0.03], [0.1, 0.12, 0.075], [0.2, 0.135, 0.09], [0.32, 0.13, 0.08],
  [0.42, 0.11, 0.06], [0.45, 0.04, 0.02],
] as const
