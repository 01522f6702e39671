/** Formats a load in CPU cores: `0.42`. */
export const formatCores = (cores: number) => cores.toFixed(2)

export const countCameras = (count: number) => (count === 1 ? '1 camera' : `${count} cameras`)
