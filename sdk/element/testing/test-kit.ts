/** Helpers for the tests of elements, without an engine: `@eyrie/element/testing`. */
export {
  createMemoryStorage,
  type LogEntry,
  type OpenOptions,
  openElement,
  type TestElement,
} from './open-element.ts'
export { findProblems } from './properties.ts'
export { hasRealModels } from './real-models.ts'
export {
  createRecordedAnswers,
  type RecordedAnswer,
  type RecordedAnswers,
  type RecordedRequest,
} from './recorded-answers.ts'
export { type RecordingOptions, readRecording } from './recording.ts'
export { type FrameInput, type Run, type RunEvent, runElement } from './run-element.ts'
export { readSceneTruth, type SceneTruth, type SceneTruthOptions } from './scene-truth.ts'
export { formatRun } from './snapshot.ts'
export { createPicture, createRandom, createStream } from './stream.ts'
export { readVideo, type VideoOptions } from './video.ts'
