import{$ as e,A as t,C as n,D as r,M as i,N as a,O as o,Q as s,Z as c,b as l,d as u,et as d,f,g as p,it as m,j as h,k as g,q as _,rt as v,tt as y,u as b}from"./index-Cn_8IWoT.js";import{n as x}from"./seat-GTi0LMTC.js";function S({address:e,game:t,seatCount:n,options:r,bots:i,actions:a}){let o=e.protocol===`https:`,s=e.port||(o?`443`:`80`),c=o?`, Tls(AUTHORITY.read_bytes())`:``;return`"""Plays a table as it was recorded in a browser.

The cards are dealt anew, so another seat may be to act, and an action may not be legal: then a legal one takes its
place, of the same verb if there is one.
"""

import secrets
from contextlib import ExitStack
from pathlib import Path
from random import Random

from google.protobuf.json_format import ParseDict

from croupier_api.v1.actions_pb2 import Action
from croupier_client import BlockingClient, BlockingTable, Endpoints, Tls, choose_random_action

# Where \`croupier up\` runs; with --tls the authority is in its data folder.
AUTHORITY = Path.home() / ".local/share/croupier/keys/gateway.authority.pem"


def endpoints() -> Endpoints:
    return Endpoints.single(${C(`${e.hostname}:${s}`)}${c})


GAME = ${C(t)}
SEATS = ${n}
BOTS = ${C(i)}
OPTIONS = ${C(r)}
ACTIONS = [
${a.map(({seat:e,action:t})=>`    (${e}, ${C(t)}),\n`).join(``)}]
WAIT_SECONDS = 30.0


def test_the_recorded_table() -> None:
    with ExitStack() as stack:
        players = [
            stack.enter_context(BlockingClient(endpoints(), secrets.token_urlsafe(), f"Player {number}"))
            for number in range(1, SEATS - len(BOTS) + 1)
        ]
        host, *guests = players
        table = host.create_table(game=GAME, seat_count=SEATS, options=OPTIONS, bots=BOTS).table
        for guest in guests:
            guest.join_table(invite_code=table.invite_code)
        for player in players:
            player.set_ready(table_id=table.table_id)
        seats = [0, *range(1 + len(BOTS), SEATS)]
        tables = {
            seat: stack.enter_context(player.play_table(table.table_id))
            for seat, player in zip(seats, players, strict=True)
        }
        sequence = 0
        for seat, recorded in ACTIONS:
            to_act = wait_for_seats(tables, sequence)
            if not to_act:
                break
            acting = tables[seat if seat in to_act else to_act[0]]
            assert acting.wait_for_turn(timeout_seconds=WAIT_SECONDS)
            sequence = acting.submit_action(choose(acting, ParseDict(recorded, Action())))
        for each in tables.values():
            while each.sequence < sequence:
                each.wait_for_change(timeout_seconds=WAIT_SECONDS)


def wait_for_seats(tables: dict[int, BlockingTable], sequence: int) -> list[int]:
    """Return the players' seats that are to act after an entry of the table; none once the game is over."""
    watched = tables[0]
    while True:
        seen = watched.sequence
        to_act = [seat for seat in watched.view.seats_to_act if seat in tables]
        if watched.is_finished or (seen >= sequence and to_act):
            return to_act
        watched.wait_for_change(after=seen, timeout_seconds=WAIT_SECONDS)


def choose(table: BlockingTable, recorded: Action) -> Action:
    """Return the recorded action if it is listed as legal, else a legal one, of the same verb if there is one."""
    legal = [*table.legal_actions.actions, *(choose_random_action(table, Random(seed)) for seed in range(20))]
    alike = [action for action in legal if action.WhichOneof("verb") == recorded.WhichOneof("verb")]
    return recorded if recorded in legal else (alike or legal)[0]
`}function C(e){return e===null?`None`:typeof e==`boolean`?e?`True`:`False`:typeof e==`object`?e instanceof Array?`[${e.map(C).join(`, `)}]`:`{${Object.entries(e).map(([e,t])=>`${C(e)}: ${C(t)}`).join(`, `)}}`:JSON.stringify(e)}function w({label:t,placeholder:r,write:i}){let a=e(null),[o,s]=y(!1);return n(v,{children:[n(`button`,{type:`button`,onClick:()=>{a.current!==null&&(a.current.value=i(),a.current.select(),s(document.execCommand(`copy`)))},children:t}),n(`textarea`,{ref:a,readOnly:!0,rows:3,placeholder:r,spellcheck:!1}),o&&n(`p`,{role:`status`,children:`Copied`})]})}var T=36e5;async function E(e,t){let n=[];for(let r=1;r<=t;r+=1)n.push(await i(e,{name:`Seat ${r}`,store:x(r),language:`en`}));return n}function D([e]){if(e===void 0)throw Error(`no players`);return e}async function O(e,t,n){let r=Math.max(t.minSeats,Math.min(e.length,t.maxSeats)),i=e.slice(0,r),s=D(i),c={actionTime:_(T),botDelay:_(500)},l=await h(s,{game:t.game,seats:r,bots:r-i.length,options:n,timeControl:c}),{inviteCode:u}=await o(s,{tableId:l});for(let e of i.slice(1))await g(e,{inviteCode:u});for(let e of i)await e.lobby.setReady({tableId:l},a(l));return o(s,{tableId:l})}function k({games:e,deal:t}){let[i,a]=y(e[0]?.game),[o,s]=y({}),c=e.find(e=>e.game===i);if(c===void 0)return null;let l=e=>{a(e),s({})};return n(`form`,{onSubmit:e=>{e.preventDefault(),t(c,o)},children:[n(`div`,{class:`dev-row`,children:[n(`select`,{"aria-label":`Game`,value:i,onChange:({currentTarget:e})=>l(e.value),children:e.map(e=>n(`option`,{value:e.game,children:e.name},e.game))}),n(`button`,{type:`submit`,children:`New table`})]}),c.options.length>0&&n(`details`,{children:[n(`summary`,{children:`Options`}),n(f,{game:c,words:new r(c,`en`),options:o,change:s})]})]})}var A=500,j=5e3,M=class{changed;entries=new Map;taken=new Map;count=0;constructor(e){this.changed=e}get actions(){return[...this.taken].sort(([e],[t])=>e-t).map(([,e])=>e)}clear(){this.entries.clear(),this.taken.clear()}of(e){return this.entries.get(e)??[]}message(e,{isSent:t,json:n}){let r=`${t?`→`:`←`} ${N(n)}`,i={number:this.count+=1,time:new Date,title:r,text:JSON.stringify(n,null,2)};this.entries.set(e,[i,...this.of(e)].slice(0,A)),this.changed()}action(e,{sequence:t,action:n}){this.taken.size<j&&this.taken.set(t,{page:e,action:n}),this.changed()}};function N(e){if(typeof e!=`object`||!e||Array.isArray(e))return``;let{tableEvent:t,...n}=e;return[t??{},n].flatMap(e=>Object.keys(e)).join(`, `)}var P={isCut:!1,delayMilliseconds:0},F=class{recording=new M(()=>this.changed());lines=new Map;switches=new Map;changed=()=>{};subscribe(e){return this.changed=e,()=>void(this.changed=()=>{})}attach(e,t){t.set(this.of(e)),this.lines.set(e,t)}recorder(e){return{message:t=>this.recording.message(e,t),action:t=>this.recording.action(e,t)}}of(e){return this.switches.get(e)??P}set(e,t){let n={...this.of(e),...t};this.switches.set(e,n),this.lines.get(e)?.set(n),this.changed()}},I=360,L=[[0,`no delay`],[300,`300 ms`],[2e3,`2 s`]];function R({page:t,tableId:r,lines:i}){let a=e(null),{isCut:o,delayMilliseconds:s}=i.of(t);return z(a),n(`section`,{class:`dev-seat`,"aria-label":`Seat ${t}`,"data-cut":o,children:[n(`header`,{children:[n(`b`,{children:t}),n(`button`,{type:`button`,"aria-pressed":o,onClick:()=>i.set(t,{isCut:!o}),children:o?`Heal`:`Cut`}),n(`select`,{"aria-label":`Delay in each direction`,value:s,onChange:({currentTarget:e})=>i.set(t,{delayMilliseconds:Number(e.value)}),children:L.map(([e,t])=>n(`option`,{value:e,children:t},e))}),n(`button`,{type:`button`,onClick:()=>a.current?.contentWindow?.location.reload(),children:`Kill`})]}),n(`div`,{class:`dev-page`,children:n(`iframe`,{ref:a,title:`The page of seat ${t}`,src:`./?seat=${t}${b({screen:`table`,id:r,link:``})}`})})]})}function z(e){s(()=>{let t=e.current?.parentElement;if(!t)return;let n=new ResizeObserver(()=>e.current?.style.setProperty(`--scale`,`${Math.min(1,t.clientWidth/I)}`));return n.observe(t),()=>n.disconnect()},[])}function B({pages:e,shown:t,show:r,entries:i}){return n(v,{children:[n(`div`,{class:`dev-row`,role:`group`,"aria-label":`The stream of seat`,children:e.map(e=>n(`button`,{type:`button`,"aria-pressed":e===t,onClick:()=>r(e),children:e},e))}),n(`ol`,{class:`dev-stream`,children:i.map(({number:e,time:t,title:r,text:i})=>n(`li`,{children:n(`details`,{children:[n(`summary`,{children:[n(`time`,{children:t.toLocaleTimeString(`en-GB`)}),` `,r]}),n(`pre`,{children:i})]})},e))})]})}var V=2,H=8;function U(e,t){let r=Math.max(V,Math.min(t,H)),i=new F;window.croupierPanel=i,m(n(W,{count:r,lines:i}),e)}function W({count:e,lines:t}){let{entered:r,table:i,fault:a,deal:o}=G(e,t),[s,l]=y(1),[,u]=d(e=>e+1,0);c(()=>t.subscribe(()=>u()),[t]);let f=Array.from({length:e},(e,t)=>t+1),{recording:p}=t;return n(`div`,{class:`dev`,children:[n(`div`,{class:`dev-seats`,"data-columns":Math.min(e,4),children:[r&&!i&&n(`p`,{class:`dev-hint`,children:`Choose a game and open a new table.`}),r&&i&&f.filter(e=>J(r,i,e)>=0).map(e=>n(R,{page:e,tableId:i.tableId,lines:t},`${i.tableId} ${e}`))]}),n(`aside`,{class:`dev-panel`,children:[r?n(k,{games:r.games,deal:o}):n(`p`,{role:`status`,children:`Signing in…`}),a!==``&&n(`p`,{role:`alert`,class:`fault`,children:a}),r&&i&&n(w,{label:`Copy as test (${p.actions.length} actions)`,placeholder:`A test in Python, of the actions so far`,write:()=>Y(r,i,p)},i.tableId),n(B,{pages:f,shown:s,show:l,entries:p.of(s)})]})]})}function G(e,{recording:t}){let[n,r]=y(),[i,a]=y(),[o,s]=y(``),u=e=>s(l(e,void 0,p(`en`))),d=e=>{e!==void 0&&(t.clear(),history.replaceState(null,``,b({screen:`table`,id:e.tableId,link:``})),s(``),a(e))};return c(()=>{K(e).then(e=>(r(e),q(e))).then(d).catch(u)},[e]),{entered:n,table:i,fault:o,deal:(e,t)=>n&&void O(n.connections,e,t).then(d,u)}}async function K(e){let n=await E(location.origin,e),{games:r}=await t(D(n),e);return{connections:n,games:r}}async function q({connections:e,games:t}){let n=u(location.hash);if(n.screen===`table`)return o(D(e),{tableId:n.id});let r=n.screen===`new`?t.find(e=>e.game===n.game):void 0;return r&&O(e,r,{})}function J({connections:e},{seats:t},n){return t.findIndex(({playerId:t})=>t===e[n-1]?.session.player.playerId)}function Y(e,t,n){let{game:r,options:i={},seats:a}=t,o=n.actions.map(({page:n,action:r})=>({seat:J(e,t,n),action:r})),s=a.flatMap(({bot:e})=>e===``?[]:[e]);return S({address:new URL(location.origin),game:r,seatCount:a.length,options:i,bots:s,actions:o})}export{U as showPanel};