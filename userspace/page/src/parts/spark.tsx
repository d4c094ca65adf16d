// A small line without axes. Its range is said in words beside it.

export interface Spark { times: number[]; values: number[] }

/** `top`: the value at the upper edge, if it is not the largest. Gaps of more than `gap` ms break the line. */
export function Sparkline({ data, top, label, from, to }: { data: Spark; top?: number | undefined; label: string; from: number; to: number }) {
  const { times, values } = data;
  if (times.length < 2) return <svg class="spark" viewBox="0 0 100 24" role="img" aria-label={`${label}: no samples yet`}><line class="none" x1="0" x2="100" y1="23" y2="23" /></svg>;
  const steps = times.slice(1).map((time, at) => time - (times[at] ?? time)).sort((a, b) => a - b);
  const gap = 4 * (steps[Math.floor(steps.length / 2)] ?? 0) + 1;
  const most = Math.max(top ?? 0, ...values) || 1;
  const x = (time: number) => (100 * (time - from)) / Math.max(1, to - from);
  const y = (value: number) => 23 - (21 * Math.max(0, value)) / most;
  let line = "";
  let area = "";
  let begun = 0;
  times.forEach((time, at) => {
    const before = times[at - 1];
    const point = `${x(time).toFixed(2)} ${y(values[at] ?? 0).toFixed(2)}`;
    if (before === undefined || time - before > gap) {
      if (before !== undefined) area += `L${x(before).toFixed(2)} 24L${x(begun).toFixed(2)} 24Z`;
      begun = time;
      line += `M${point}`;
      area += `M${point}`;
    } else {
      line += `L${point}`;
      area += `L${point}`;
    }
  });
  const last = times.at(-1) ?? 0;
  area += `L${x(last).toFixed(2)} 24L${x(begun).toFixed(2)} 24Z`;
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="area" d={area} />
      <path class="line" d={line} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
