// Icons, drawn as lines.

const PATHS = {
  back: "M15 5l-7 7 7 7",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  settings: "M4 7h9M19 7h1M4 17h1M11 17h9M16 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM8 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM8.500 14.500c.9 1.200 2 1.800 3.500 1.800s2.600-.6 3.500-1.800M9 9.500v.1M15 9.500v.1",
  people: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM2.500 20c.5-4 3-6 6.500-6s6 2 6.500 6M16 4.300a3.500 3.500 0 0 1 0 6.400M18 14.500c2 .8 3.200 2.600 3.500 5.500",
  bot: "M12 2.500v3M6 8.500h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM9 13v1.500M15 13v1.500",
  check: "M5 12.500l4.500 4.500L19 7.500",
  previousMoment: "M5 6v12M19 6l-9 6 9 6Z",
  stepBack: "M15 6l-8 6 8 6Z",
  playOn: "M8 5l11 7-11 7Z",
  pause: "M9 5v14M15 5v14",
  stepOn: "M9 6l8 6-8 6Z",
  nextMoment: "M19 6v12M5 6l9 6-9 6Z",
  eye: "M2.500 12C5 7.500 8 5.500 12 5.500s7 2 9.500 6.500c-2.500 4.500-5.500 6.500-9.500 6.500S5 16.500 2.500 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  share: "M12 15V4M8 7.500 12 3.500l4 4M6 11H5v9h14v-9h-1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d={PATHS[name]} /></svg>;
}

interface IconButtonProps {
  readonly name: IconName;
  readonly label: string;
  readonly onClick: () => void;
}

/** A button with an icon alone, and a label for those who cannot see it. */
export function IconButton({ name, label, onClick }: IconButtonProps) {
  return <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}><Icon name={name} /></button>;
}
