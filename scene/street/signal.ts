import type { Rgb } from '../picture/colour.ts'
import type { Mesh } from '../picture/mesh.ts'

/** What the traffic light at the crossing shows. */
export type SignalPhase = 'cars' | 'amber' | 'people' | 'clear'

const CYCLE_S = 44

export function signalPhase(timeS: number): SignalPhase {
  const t = timeS % CYCLE_S
  return t < 24 ? 'cars' : t < 27 ? 'amber' : t < 40 ? 'people' : 'clear'
}

const RED = 0
const AMBER = 1
const GREEN = 2
const LIT: readonly Rgb[] = [
  [2.2, 0.15, 0.1],
  [2.0, 1.1, 0.1],
  [0.15, 2.0, 0.6],
]
const DARK: readonly Rgb[] = [
  [0.05, 0.01, 0.01],
  [0.05, 0.03, 0.01],
  [0.01, 0.04, 0.02],
]
const FACES = [
  [0, -1],
  [-1, 0],
  [1, 0],
] as const

/** Adds the lamps of a traffic light's head, on three of its sides. */
export function addSignalLamps(mesh: Mesh, x: number, y: number, phase: SignalPhase): void {
  const lit = phase === 'cars' ? GREEN : phase === 'amber' ? AMBER : RED
  for (let lamp = 0; lamp < 3; lamp++) {
    const colour = (lamp === lit ? LIT : DARK)[lamp]!
    for (const [fx, fy] of FACES)
      mesh.ellipsoid(
        x + fx * 0.13,
        y + fy * 0.12,
        2.82 - lamp * 0.23,
        0.075,
        0.03,
        0.075,
        fx,
        fy,
        8,
        6,
        colour,
        0.2,
      )
  }
}
