/** Rounds a value for a report to thousandths. */
export const roundToThousandths = (value: number): number => Math.round(value * 1000) / 1000
