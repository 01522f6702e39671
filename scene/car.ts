import { paint, type Rgb, scaled } from './colour.ts'
import { cos, sin, TAU } from './maths.ts'
import type { Mesh } from './mesh.ts'
import type { Random } from './random.ts'

// biome-ignore format: a palette
const PAINTS = [
  0xd8dadc, 0x16181b, 0x9a9ea2, 0xa81c1c, 0x1d3f7a, 0xf2f2ee, 0x4a4e52,
  0x2c5a48, 0xc8a24a, 0x6a2a2a, 0x3a76b8, 0xb8b0a0, 0x5c2a58, 0xd2601a,
].map(paint)
const DARK = paint(0x0c0d0f)
const GLASS = paint(0x1a2128)
const TYRE = paint(0x141414)
const HEADLAMP = paint(0xf4f2e6)
const PLATE = paint(0xd8d8cc)
const BRIGHT_RIM = paint(0xb8bcc0)
const DARK_RIM = paint(0x303234)
const BRAKE_LIGHT: Rgb = [1.6, 0.06, 0.04]

type Kind = 'hatch' | 'sedan' | 'suv' | 'van'

/** How a car looks; metres. */
export interface CarLook {
  kind: Kind
  length: number
  width: number
  height: number
  paint: Rgb
  rim: Rgb
}

const SIZES: Record<Kind, readonly [length: number, width: number, height: number]> = {
  hatch: [4.0, 1.76, 1.48],
  sedan: [4.6, 1.82, 1.44],
  suv: [4.6, 1.88, 1.7],
  van: [5.1, 1.95, 2.1],
}

/** Rear and front end of the glasshouse, below and at the roof, as shares of half the length. */
const GLASSHOUSE: Record<Kind, readonly [number, number, number, number]> = {
  hatch: [-0.93, 0.42, -0.8, 0.08],
  sedan: [-0.72, 0.42, -0.42, 0.1],
  suv: [-0.95, 0.42, -0.84, 0.12],
  van: [-0.97, 0.66, -0.95, 0.36],
}

export function randomCarLook(random: Random): CarLook {
  const t = random.next()
  const kind = t < 0.42 ? 'hatch' : t < 0.72 ? 'sedan' : t < 0.88 ? 'suv' : 'van'
  const [length, width, height] = SIZES[kind]
  return {
    kind,
    length: length * random.between(0.95, 1.05),
    width,
    height: height * random.between(0.98, 1.02),
    paint: random.pick(PAINTS),
    rim: random.chance(0.6) ? BRIGHT_RIM : DARK_RIM,
  }
}

/** Where a car is (metres), heads to (unit vector), how far its wheels have turned (radians). */
export interface CarPose {
  x: number
  y: number
  hx: number
  hy: number
  roll: number
  brake: boolean
}

/** Adds a car to the mesh. */
export function addCar(mesh: Mesh, look: CarLook, pose: CarPose): void {
  addBody(mesh, look, pose)
  addGlasshouse(mesh, look, pose)
  for (const along of [-0.61, 0.62]) for (const side of [-1, 1]) addWheel(mesh, look, pose, along, side)
  addMirrors(mesh, look, pose)
}

const beltHeight = (kind: Kind): number => (kind === 'van' ? 1.08 : kind === 'suv' ? 1.02 : 0.9)

/** Cross-sections from tail to nose: place, half width (shares), bottom and top (metres). */
function bodySections(kind: Kind): [number, number, number, number][] {
  const belt = beltHeight(kind)
  const hood = kind === 'van' || kind === 'suv' ? 0.98 : 0.83
  const tail = kind === 'sedan' ? 0.93 : belt
  return [
    [-1, 0.7, 0.52, tail * 0.8],
    [-0.992, 0.84, 0.42, tail * 0.9],
    [-0.95, 0.95, 0.34, tail * 0.975],
    [-0.86, 0.99, 0.3, tail],
    [-0.7, 1, 0.26, belt],
    [-0.35, 1, 0.24, belt],
    [0, 1, 0.24, belt],
    [0.3, 1, 0.24, belt],
    [0.48, 1, 0.25, belt * 0.6 + hood * 0.4],
    [0.7, 0.985, 0.27, hood],
    [0.86, 0.96, 0.3, hood * 0.955],
    [0.945, 0.9, 0.33, hood * 0.89],
    [0.985, 0.8, 0.38, hood * 0.8],
    [1, 0.66, 0.46, hood * 0.7],
  ]
}

const BODY_SIDES = 20

function addBody(mesh: Mesh, look: CarLook, pose: CarPose): void {
  const { x, y, hx, hy } = pose
  const halfLength = look.length / 2
  const halfWidth = look.width / 2
  const sections = bodySections(look.kind)
  for (const [t, w, bottom, top] of sections) {
    const f = t * halfLength
    // biome-ignore format: centre, right axis, up axis
    mesh.ring(
      x + hx * f, y + hy * f, (bottom + top) / 2,
      hy * halfWidth * w, -hx * halfWidth * w, 0,
      0, 0, (top - bottom) / 2,
    )
  }
  const nose = sections.length - 2
  const skin = (ring: number, side: number): Rgb => {
    const angle = ((side + 1) / BODY_SIDES) * TAU
    const up = sin(angle)
    const out = Math.abs(cos(angle))
    if (ring === nose) {
      if (up > 0.1 && out > 0.55 && up < 0.85) return HEADLAMP
      if (up < -0.1) return DARK
    }
    if (ring === 0) {
      if (up > -0.1 && out > 0.55) return pose.brake ? BRAKE_LIGHT : [0.35, 0.02, 0.02]
      if (up < -0.5) return DARK
    }
    if (ring === nose - 1 && up < -0.35) return scaled(look.paint, 0.5)
    return up < -0.62 ? DARK : look.paint
  }
  const first = mesh.loft(BODY_SIDES, skin, 0.7, 0.62)
  for (const end of [-1, 1]) {
    const ring = end < 0 ? 0 : sections.length - 1
    const [, , bottom, top] = sections[ring]!
    const centre = mesh.vertex(
      x + hx * end * halfLength * 1.002,
      y + hy * end * halfLength * 1.002,
      (bottom + top) / 2,
    )
    mesh.normal[centre * 3] = hx * end
    mesh.normal[centre * 3 + 1] = hy * end
    for (let s = 0; s < BODY_SIDES; s++) {
      const angle = ((s + 0.5) / BODY_SIDES) * TAU + TAU / BODY_SIDES / 2
      const colour = endColour(look, pose, end, sin(angle), Math.abs(cos(angle)))
      const a = first + ring * BODY_SIDES + s
      const b = first + ring * BODY_SIDES + ((s + 1) % BODY_SIDES)
      mesh.triangle(a, b, centre, colour, 0.4)
    }
  }
}

/** Lamps, grille and plate on the flat faces of nose (end 1) and tail (end -1). */
function endColour(look: CarLook, pose: CarPose, end: number, up: number, out: number): Rgb {
  if (end > 0) {
    if (up > 0.15 && out > 0.6) return [1.0, 0.98, 0.9]
    return up < 0.45 && out < 0.8 ? scaled(DARK, 1.5) : look.paint
  }
  if (out > 0.72 && up > -0.3) return pose.brake ? BRAKE_LIGHT : [0.4, 0.02, 0.02]
  if (up < -0.6) return DARK
  return out < 0.35 ? PLATE : look.paint
}

const GLASSHOUSE_SIDES = 28
const GLASSHOUSE_RINGS = [
  [0, 1],
  [0.05, 1],
  [0.5, 1],
  [0.84, 1],
  [0.9, 1],
  [0.95, 0.97],
  [0.98, 0.9],
  [1, 0.6],
  [1.003, 0.05],
] as const

function addGlasshouse(mesh: Mesh, look: CarLook, pose: CarPose): void {
  const { x, y, hx, hy } = pose
  const halfLength = look.length / 2
  const halfWidth = look.width / 2
  const [rear, front, roofRear, roofFront] = GLASSHOUSE[look.kind]
  const bottom = beltHeight(look.kind) - 0.03
  const height = look.height - bottom
  for (const [z, shrink] of GLASSHOUSE_RINGS) {
    const t = Math.min(1, z / 0.9)
    const back = (rear + (roofRear - rear) * t) * halfLength
    const fore = (front + (roofFront - front) * t) * halfLength
    const width = halfWidth * (0.965 - (look.kind === 'van' ? 0.1 : 0.2) * t)
    const middle = (back + fore) / 2
    const half = (fore - back) / 2
    // biome-ignore format: centre, right axis, forward axis
    mesh.ring(
      x + hx * middle, y + hy * middle, bottom + height * z,
      hy * width * shrink, -hx * width * shrink, 0,
      hx * half * shrink, hy * half * shrink, 0,
    )
  }
  const skin = (ring: number, side: number): Rgb => {
    if (ring < 1) return scaled(look.paint, 0.8)
    if (ring > 2) return look.paint
    const angle = ((side + 1) / GLASSHOUSE_SIDES) * TAU
    const out = Math.abs(cos(angle))
    const forward = sin(angle)
    if (Math.abs(out - Math.abs(forward)) < 0.2) return look.paint // corner pillars
    if (out > Math.abs(forward)) {
      if (Math.abs(forward / out - 0.04) < 0.13) return DARK // door pillar
      if (look.kind === 'van' && forward < -0.1) return look.paint
    }
    return GLASS
  }
  mesh.loft(GLASSHOUSE_SIDES, skin, 0.9, 0.72)
}

/** Radius and place across of each ring of a wheel, as shares of tyre radius and half width. */
const WHEEL = [
  [1, 0.7],
  [1, 0.99],
  [0.93, 1.012],
  [0.7, 1.016],
  [0.66, 1.0],
  [0.28, 1.006],
] as const

function addWheel(mesh: Mesh, look: CarLook, pose: CarPose, along: number, side: number): void {
  const { hx, hy, roll } = pose
  const halfWidth = look.width / 2
  const x = pose.x + hx * along * (look.length / 2)
  const y = pose.y + hy * along * (look.length / 2)
  const radius = look.kind === 'suv' || look.kind === 'van' ? 0.36 : 0.325
  for (const [r, out] of [
    [radius * 1.17, 0.997],
    [0.02, 1.001],
  ] as const)
    // biome-ignore format: centre, forward axis, up axis
    mesh.ring(
      x + hy * halfWidth * side * out, y - hx * halfWidth * side * out, radius + 0.01,
      hx * r, hy * r, 0,
      0, 0, r,
    )
  mesh.loft(16, DARK, 0)
  for (const [r, out] of [...WHEEL.map(([share, o]) => [radius * share, o] as const), [0.02, 1.012] as const])
    // biome-ignore format: centre, two turning axes
    mesh.ring(
      x + hy * halfWidth * side * out, y - hx * halfWidth * side * out, radius,
      hx * r * cos(roll), hy * r * cos(roll), -r * sin(roll),
      hx * r * sin(roll), hy * r * sin(roll), r * cos(roll),
    )
  mesh.loft(20, (ring, s) => (ring < 3 ? TYRE : ring === 4 && s % 4 >= 2 ? DARK : look.rim), 0.25)
}

function addMirrors(mesh: Mesh, look: CarLook, pose: CarPose): void {
  const { hx, hy } = pose
  const out = look.width / 2 + 0.07
  const z = beltHeight(look.kind) + 0.06
  for (const side of [-1, 1]) {
    const x = pose.x + hx * (look.length / 2) * 0.36 + hy * side * out
    const y = pose.y + hy * (look.length / 2) * 0.36 - hx * side * out
    mesh.ellipsoid(x, y, z, 0.11, 0.07, 0.08, hx, hy, 8, 5, look.paint, 0.5)
  }
}
