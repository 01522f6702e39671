/** What trackers are made of: `@eyrie/element/tracking`. */
export { assign } from './tracking/assignment.ts'
export { ClassVote } from './tracking/class-vote.ts'
export { Coordinate, type Noise } from './tracking/kalman.ts'
export { MovingBox } from './tracking/moving-box.ts'
export { enlarged, overlap } from './tracking/overlap.ts'
export {
  anyClass,
  type Followed,
  firstStep,
  pair,
  type Similarity,
  sameClass,
} from './tracking/pairing.ts'
export { isStrong, weakDoubt } from './tracking/strength.ts'
