import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { cos, sin } from '../maths/arithmetic.ts'
import { SIDES, type Side, toGround } from '../maths/vectors.ts'
import { type CarAppearance, type CarPose, DARK, getBeltHeight, isTall } from './car-appearance.ts'
import { addBody } from './car-body.ts'
import { addGlasshouse } from './glasshouse.ts'

/** Positions of the axles along the car, from -1 (tail) to 1 (nose). */
const AXLES = [-0.61, 0.62]
const TYRE = toLinearRgb(0x141414)
/**
 * The first rings of a wheel are the tyre. The faces behind this ring are the spokes,
 * with gaps between them.
 */
const TYRE_RINGS = 3
const SPOKE_RING = 4
/** Radius in metres of the ring with which a surface ends. */
const CLOSING_RADIUS = 0.02

/** Adds a car to a mesh. */
export function addCar(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  addBody(mesh, appearance, pose)
  addGlasshouse(mesh, appearance, pose)
  for (const axle of AXLES) {
    for (const side of SIDES) addWheel(mesh, appearance, pose, axle, side)
  }
  addMirrors(mesh, appearance, pose)
}

/**
 * The rings of a wheel from the inside to the outside: radius and position, as shares of the tyre
 * radius and the car's half width.
 */
const WHEEL_RINGS = [
  { radius: 1, out: 0.7 },
  { radius: 1, out: 0.99 },
  { radius: 0.93, out: 1.012 },
  { radius: 0.7, out: 1.016 },
  { radius: 0.66, out: 1.0 },
  { radius: 0.28, out: 1.006 },
] as const

/**
 * Adds a wheel and its arch. `axle` is the position along the car (-1: tail, 1: nose), `side` is -1
 * (left) or 1 (right).
 */
function addWheel(
  mesh: Mesh,
  appearance: CarAppearance,
  pose: CarPose,
  axle: number,
  side: Side,
): void {
  const { hx, hy, wheelAngle } = pose
  const tyreRadius = isTall(appearance.kind) ? 0.36 : 0.325
  const forward = axle * (appearance.length / 2)
  const toRight = (out: number) => (appearance.width / 2) * side * out

  const archRings = [
    { radius: tyreRadius * 1.17, out: 0.997 },
    { radius: CLOSING_RADIUS, out: 1.001 },
  ]
  for (const { radius, out } of archRings) {
    const [x, y] = toGround(pose, forward, toRight(out))
    mesh.addRing([x, y, tyreRadius + 0.01], [hx * radius, hy * radius, 0], [0, 0, radius])
  }
  mesh.loft({ sides: 16, colour: DARK })

  const wheelRings = [
    ...WHEEL_RINGS.map(({ radius, out }) => ({ radius: tyreRadius * radius, out })),
    { radius: CLOSING_RADIUS, out: 1.012 },
  ]
  for (const { radius, out } of wheelRings) {
    const [x, y] = toGround(pose, forward, toRight(out))
    const c = radius * cos(wheelAngle)
    const s = radius * sin(wheelAngle)
    mesh.addRing([x, y, tyreRadius], [hx * c, hy * c, -s], [hx * s, hy * s, c])
  }
  const getColour = (ring: number, angularSide: number): Rgb => {
    if (ring < TYRE_RINGS) return TYRE
    const isBetweenSpokes = ring === SPOKE_RING && angularSide % 4 >= 2
    return isBetweenSpokes ? DARK : appearance.rim
  }
  mesh.loft({ sides: 20, colour: getColour, gloss: 0.25 })
}

function addMirrors(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  const forward = (appearance.length / 2) * 0.36
  const out = appearance.width / 2 + 0.07
  const z = getBeltHeight(appearance.kind) + 0.06
  for (const side of SIDES) {
    const [x, y] = toGround(pose, forward, side * out)
    mesh.addEllipsoid({
      centre: [x, y, z],
      radii: [0.11, 0.07, 0.08],
      heading: [pose.hx, pose.hy],
      sides: 8,
      rings: 5,
      colour: appearance.paint,
      gloss: 0.5,
    })
  }
}
