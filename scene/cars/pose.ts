/** Where a car is (metres), heads to (unit vector), how far its wheels have turned (radians). */
export interface CarPose {
  x: number
  y: number
  hx: number
  hy: number
  roll: number
  brake: boolean
}
