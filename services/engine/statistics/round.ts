// Rounding of values for reports.

export const roundToTenths = (value: number): number => Math.round(value * 10) / 10
export const roundToHundredths = (value: number): number => Math.round(value * 100) / 100
export const roundToThousandths = (value: number): number => Math.round(value * 1000) / 1000
