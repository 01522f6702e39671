import type { ModelFacts } from './prepare-model.ts'

/**
 * The labels of the 80 COCO classes (cocodataset.org, "2017 categories"), in the order of
 * their class numbers.
 */
export const COCO_LABELS: readonly string[] = `
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign,
parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, handbag,
tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, surfboard,
tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot,
hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote,
keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear,
hair drier, toothbrush`
  .split(',')
  .map(label => label.trim())

/**
 * Properties of detectors with the COCO classes. Such a detector may report the same vehicle as
 * car, bus and truck. Small ones also see airplanes and boats in streets and car parks: in
 * recordings of both, YOLOX-nano reported them with scores of up to 0.76, for hundreds of frames
 * and larger than any vehicle, so that neither a tracker nor a common threshold helps.
 */
export const COCO_DETECTOR = {
  labels: [...COCO_LABELS],
  suppress_together: [['car', 'bus', 'truck']],
  class_score_thresholds: { airplane: 0.9, boat: 0.9 },
} satisfies Partial<ModelFacts>

/**
 * Parses a labels file: one label per line, in the order of the model's classes. Throws an
 * `Error` if a line is empty.
 */
export function parseLabels(text: string): string[] {
  const labels = text.split(/\r?\n/).map(line => line.trim())
  while (labels.at(-1) === '') labels.pop()
  const emptyIndex = labels.indexOf('')
  if (labels.length === 0) throw new Error('the labels file is empty: write one class per line')
  if (emptyIndex >= 0) {
    throw new Error(`line ${emptyIndex + 1} of the labels file is empty: every class needs a label`)
  }
  return labels
}
