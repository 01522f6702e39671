/** Building blocks for trackers: `@eyrie/element/tracking`. */
export { type Candidate, solveAssignment } from './tracking/assignment.ts'
export {
  type AssociableTrack,
  anyClassIou,
  associate,
  bufferedIou,
  iou,
  type Similarity,
  sameClassIou,
} from './tracking/association.ts'
export {
  ClassVote,
  type Confidence,
  type Detection,
  isHighScore,
  LOW_SCORE_NOISE_SCALE,
  rateDetections,
} from './tracking/detection-score.ts'
export { KalmanBox } from './tracking/kalman-box.ts'
export { KalmanFilter, type KalmanNoise } from './tracking/kalman-filter.ts'
